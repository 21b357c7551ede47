import { CIPHER_SUITES } from '../fields/cipherSuites.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  listenAddressSchema,
  listSchema,
  matchingStringSchema,
  parsedNumberSchema,
  pathSchema,
  stringSchema,
} from '../fields/fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import type { FieldsOf } from './setting.ts';
import { declareSettings } from './setting.ts';

const cipherSuiteSchema = matchingStringSchema('a cipher suite such as "TLS_AES_128_GCM_SHA256"', (name) =>
  CIPHER_SUITES.includes(name),
);
const portSchema = integerSchema(0, 65_535);
const portFlagSchema = parsedNumberSchema(portSchema);

/** Settings of the addresses and ports of the node's API. */
const listenSettings = () =>
  declareSettings({
    enableServer: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether the node serves its API ({default})',
      flag: { name: '--enable-server', argument: '[boolean]', help: "serve the node's API (default: {default})" },
    },
    address: {
      type: listenAddressSchema,
      default: '0.0.0.0',
      standaloneDefault: '127.0.0.1',
      effect:
        'the IP address of the API ({default}; {standalone} for a node without a cluster, which serves on loopback only)',
      flag: {
        name: '--address',
        argument: '<ip>',
        help: 'IP address of the API (default: {default}, or {standalone} without --kubeconfig)',
        emptyIsUnset: true,
      },
    },
    port: {
      type: portSchema,
      default: 10_250,
      effect: 'the port of the API ({default}); `--port 0` means any free port',
      flag: {
        name: '--port',
        argument: '<number>',
        type: portFlagSchema,
        help: 'port of the API; 0 means any free port (default: {default})',
      },
    },
    readOnlyPort: {
      type: portSchema,
      default: 0,
      effect:
        'the unauthenticated read-only port without TLS for pods, metrics, stats and health ({default}: disabled)',
      flag: {
        name: '--read-only-port',
        argument: '<number>',
        type: portFlagSchema,
        help: 'unauthenticated read-only port without TLS; 0 disables it (default: {default})',
      },
    },
    healthzPort: {
      type: portSchema,
      default: 10_248,
      allowsZeroValue: true,
      effect: 'the port of the health endpoint ({default}; 0: disabled)',
      flag: {
        name: '--healthz-port',
        argument: '<number>',
        type: portFlagSchema,
        help: 'port of the health endpoint; 0 disables it (default: {default})',
      },
    },
    healthzBindAddress: {
      type: listenAddressSchema,
      default: '127.0.0.1',
      effect: 'the IP address of the health endpoint ({default})',
      flag: {
        name: '--healthz-bind-address',
        argument: '<ip>',
        help: 'IP address of the health endpoint (default: {default})',
        emptyIsUnset: true,
      },
    },
  });

const tlsSettings = () =>
  declareSettings({
    tlsCertFile: {
      type: stringSchema,
      isPath: true,
      effect: 'the serving certificate of the API, and of the page if other hosts can reach `--inspect-address`',
      flag: {
        name: '--tls-cert-file',
        argument: '<file>',
        type: pathSchema,
        help: 'serving certificate (default: issued by the API server, or self-signed)',
      },
    },
    tlsPrivateKeyFile: {
      type: stringSchema,
      isPath: true,
      effect: 'the private key of that certificate',
      flag: {
        name: '--tls-private-key-file',
        argument: '<file>',
        type: pathSchema,
        help: 'private key of the serving certificate',
      },
    },
    tlsCipherSuites: {
      type: listSchema(cipherSuiteSchema),
      default: [],
      effect: 'the cipher suites of TLS 1.2 (those with forward secrecy)',
      unsupportedFlag: '--tls-cipher-suites',
    },
    tlsCurvePreferences: {
      type: listSchema(integerSchema()),
      default: [],
      effect: 'the numbers of the preferred TLS curves (those of OpenSSL)',
    },
    tlsMinVersion: {
      type: enumSchema('', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'),
      effect: 'the minimum TLS version (VersionTLS12)',
      unsupportedFlag: '--tls-min-version',
    },
  });

const accessSettings = () =>
  declareSettings({
    authentication: {
      effect:
        '`x509.clientCAFile`: the certificate authorities of clients ({x509.clientCAFile}); `webhook`: whether the API server reviews tokens (in a cluster {webhook.enabled}), and how long the result is cached ({webhook.cacheTTL}); `anonymous`: whether clients can connect without credentials ({anonymous.enabled})',
      fields: {
        x509: {
          fields: {
            clientCAFile: {
              type: stringSchema,
              isPath: true,
              flag: {
                name: '--client-ca-file',
                argument: '<file>',
                type: pathSchema,
                help: 'certificate authorities that verify client certificates (default: {default})',
              },
            },
          },
        },
        anonymous: {
          fields: {
            enabled: {
              type: booleanSchema,
              default: false,
              allowsZeroValue: true,
              flag: {
                name: '--anonymous-auth',
                argument: '[boolean]',
                help: 'allow requests without credentials (default: {default})',
              },
            },
          },
        },
        webhook: {
          fields: {
            enabled: {
              type: booleanSchema,
              default: true,
              standaloneDefault: false,
              allowsZeroValue: true,
              flag: {
                name: '--authentication-token-webhook',
                argument: '[boolean]',
                help: 'authenticate tokens with the TokenReview API (default: {default} with --kubeconfig)',
              },
            },
            cacheTTL: {
              type: durationSchema(),
              default: '2m',
              unsupportedFlag: '--authentication-token-webhook-cache-ttl',
            },
          },
        },
      },
    },
    authorization: {
      effect:
        '`mode`: `{mode}`, i.e. the API server decides (default in a cluster), or `AlwaysAllow`; `webhook`: how long decisions are cached ({webhook.cacheAuthorizedTTL} if allowed, {webhook.cacheUnauthorizedTTL} if denied)',
      fields: {
        mode: {
          type: enumSchema('', 'AlwaysAllow', 'Webhook'),
          default: 'Webhook',
          standaloneDefault: '',
          flag: {
            name: '--authorization-mode',
            argument: '<mode>',
            help: 'AlwaysAllow, or Webhook to authorize with the SubjectAccessReview API (default: {default})',
            emptyIsUnset: true,
          },
        },
        webhook: {
          fields: {
            cacheAuthorizedTTL: {
              type: durationSchema(),
              default: '5m',
              unsupportedFlag: '--authorization-webhook-cache-authorized-ttl',
            },
            cacheUnauthorizedTTL: {
              type: durationSchema(),
              default: '30s',
              unsupportedFlag: '--authorization-webhook-cache-unauthorized-ttl',
            },
          },
        },
      },
    },
  });

/** Settings of the paths and connections that the API serves. */
const handlerSettings = () =>
  declareSettings({
    enableDebuggingHandlers: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect:
        'whether to serve logs, exec, attach, port-forward and others in addition to pods, metrics, stats and health ({default})',
      unsupportedFlag: '--enable-debugging-handlers',
    },
    enableSystemLogHandler: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether `/logs` is served ({default})',
    },
    enableSystemLogQuery: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: "whether `/logs` supports queries of the logs of the host's services ({default})",
    },
    enableProfilingHandler: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect:
        'whether `/debug/pprof/` is served, with profiles and a heap snapshot for the developer tools of Chrome ({default})',
    },
    enableDebugFlagsHandler: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether `/debug/flags/v` can change the log verbosity ({default})',
    },
    enableContentionProfiling: {
      type: booleanSchema,
      ignoredReason: 'JavaScript has no locks to contend for',
      unsupportedFlag: '--contention-profiling',
    },
    streamingConnectionIdleTimeout: {
      type: durationSchema(),
      default: '4h',
      ignoredReason: 'it has no effect in a kubelet either',
      unsupportedFlag: '--streaming-connection-idle-timeout',
    },
  });

/** Settings of the node's own API: where it listens, its certificates, and who may use it. */
export const servingSettings = () => ({
  ...listenSettings(),
  ...tlsSettings(),
  ...accessSettings(),
  ...handlerSettings(),
});

type ServingFields = FieldsOf<ReturnType<typeof servingSettings>>;

export const servingRules: readonly ConfigRule<ServingFields>[] = [
  createRule('enableSystemLogQuery', 'needs enableSystemLogHandler', (config) => {
    return config.enableSystemLogQuery !== true || config.enableSystemLogHandler !== false;
  }),
];
