package org.glassfish.jersey.server;

import java.util.List;
import org.glassfish.jersey.uri.UriTemplate;

public interface ExtendedUriInfo {
    List<UriTemplate> getMatchedTemplates();
}
