package io.ctxagent.spring;

import io.ctxagent.AgentControl;
import io.micrometer.core.instrument.MeterRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.*;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What a service gets that has this jar. */
@AutoConfiguration
@EnableConfigurationProperties(CtxagentProperties.class)
class CtxagentAutoConfiguration {
    private static final Log LOG = LogFactory.getLog(CtxagentAutoConfiguration.class);

    /** Begins the recording; the service runs on where that fails. */
    @Bean
    @ConditionalOnProperty("ctxagent.start")
    InitializingBean ctxagentRecording(CtxagentProperties properties) {
        return () -> {
            try {
                LOG.info(AgentControl.execute(properties.startCommand()).strip());
            } catch (IllegalArgumentException | IllegalStateException refused) {
                LOG.warn("ctxagent does not record: " + refused.getMessage());
            }
        };
    }

    @Bean
    @ConditionalOnAvailableEndpoint
    CtxagentEndpoint ctxagentEndpoint(CtxagentProperties properties) {
        return new CtxagentEndpoint(properties);
    }

    /** Apart, as an application can leave out Micrometer. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    static class Meters {
        @Bean
        CtxagentMetrics ctxagentMetrics() {
            return new CtxagentMetrics();
        }
    }
}
