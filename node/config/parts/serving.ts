import * as z from 'zod/mini';
import { CIPHER_SUITES } from '../cipherSuites.ts';
import { boolean, duration, list, listenAddress, oneOf, section, text, textLike, whole } from '../fields.ts';

const cipherSuite = textLike('a cipher suite such as "TLS_AES_128_GCM_SHA256"', (name) => CIPHER_SUITES.includes(name));

/** Fields for authentication and authorization. */
const access = () => ({
  authentication: z.optional(
    section({
      x509: z.optional(section({ clientCAFile: z.optional(text) })),
      webhook: z.optional(section({ enabled: z.optional(boolean), cacheTTL: z.optional(duration()) })),
      anonymous: z.optional(section({ enabled: z.optional(boolean) })),
    }),
  ),
  authorization: z.optional(
    section({
      mode: z.optional(oneOf('', 'AlwaysAllow', 'Webhook')),
      webhook: z.optional(
        section({ cacheAuthorizedTTL: z.optional(duration()), cacheUnauthorizedTTL: z.optional(duration()) }),
      ),
    }),
  ),
});

/** The node's HTTPS server: where it listens, its certificates, who may use it. */
export const serving = () => ({
  enableServer: z.optional(boolean),
  address: z.optional(listenAddress),
  port: z.optional(whole(0, 65_535)),
  readOnlyPort: z.optional(whole(0, 65_535)),
  healthzPort: z.optional(whole(0, 65_535)),
  healthzBindAddress: z.optional(listenAddress),
  tlsCertFile: z.optional(text),
  tlsPrivateKeyFile: z.optional(text),
  tlsCipherSuites: z.optional(list(cipherSuite)),
  tlsCurvePreferences: z.optional(list(whole())),
  tlsMinVersion: z.optional(oneOf('', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13')),
  rotateCertificates: z.optional(boolean),
  serverTLSBootstrap: z.optional(boolean),
  ...access(),
  enableDebuggingHandlers: z.optional(boolean),
  enableContentionProfiling: z.optional(boolean),
  enableProfilingHandler: z.optional(boolean),
  enableDebugFlagsHandler: z.optional(boolean),
  enableSystemLogHandler: z.optional(boolean),
  enableSystemLogQuery: z.optional(boolean),
  streamingConnectionIdleTimeout: z.optional(duration()),
});
