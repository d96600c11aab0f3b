package org.springframework.web.servlet;

public class ModelAndView {}
