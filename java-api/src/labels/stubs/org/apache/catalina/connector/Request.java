package org.apache.catalina.connector;

import jakarta.servlet.http.HttpServletRequest;

public abstract class Request implements HttpServletRequest {}
