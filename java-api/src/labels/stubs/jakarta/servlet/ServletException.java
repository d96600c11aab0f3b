package jakarta.servlet;

public class ServletException extends Exception {
    private static final long serialVersionUID = 1;
}
