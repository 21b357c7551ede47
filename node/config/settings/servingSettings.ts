import { CIPHER_SUITES } from '../cipherSuites.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  listenAddress,
  listSchema,
  matchingStringSchema,
  parsedNumberSchema,
  path,
  stringSchema,
} from '../fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import type { FieldsOf } from './setting.ts';
import { declareSettings } from './setting.ts';

const cipherSuite = matchingStringSchema('a cipher suite such as "TLS_AES_128_GCM_SHA256"', (name) =>
  CIPHER_SUITES.includes(name),
);
const port = integerSchema(0, 65_535);
const portFlag = parsedNumberSchema(port);

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
      type: listenAddress,
      default: '0.0.0.0',
      standaloneDefault: '127.0.0.1',
      effect: 'where: an IP address ({default}; of a node without a cluster {standalone}, and on loopback only)',
      flag: {
        name: '--address',
        argument: '<ip>',
        help: 'address of the API (default: {default}; without --kubeconfig {standalone})',
        emptyIsUnset: true,
      },
    },
    port: {
      type: port,
      default: 10_250,
      effect: 'at which port ({default}); `--port 0` means any that is free',
      flag: {
        name: '--port',
        argument: '<number>',
        type: portFlag,
        help: 'its port; 0: any that is free (default: {default})',
      },
    },
    readOnlyPort: {
      type: port,
      default: 0,
      effect: 'a port without TLS where everybody may read pods, metrics, stats and health ({default}: none)',
      flag: {
        name: '--read-only-port',
        argument: '<number>',
        type: portFlag,
        help: 'port without TLS where everybody may read; 0: none (default: {default})',
      },
    },
    healthzPort: {
      type: port,
      default: 10_248,
      allowsZeroValue: true,
      effect: 'the port of the health check ({default}; 0: none)',
      flag: {
        name: '--healthz-port',
        argument: '<number>',
        type: portFlag,
        help: 'port of the health check; 0: none (default: {default})',
      },
    },
    healthzBindAddress: {
      type: listenAddress,
      default: '127.0.0.1',
      effect: 'its address ({default})',
      flag: {
        name: '--healthz-bind-address',
        argument: '<ip>',
        help: 'address of that port (default: {default})',
        emptyIsUnset: true,
      },
    },
  });

const tls = () =>
  declareSettings({
    tlsCertFile: {
      type: stringSchema,
      isPath: true,
      effect: 'the certificate of the API, and of the page where `--inspect-address` is one that other hosts reach',
      flag: {
        name: '--tls-cert-file',
        argument: '<file>',
        type: path,
        help: 'serving certificate (default: from the API server, or one that the node creates)',
      },
    },
    tlsPrivateKeyFile: {
      type: stringSchema,
      isPath: true,
      effect: 'its key',
      flag: { name: '--tls-private-key-file', argument: '<file>', type: path, help: 'its key' },
    },
    tlsCipherSuites: {
      type: listSchema(cipherSuite),
      default: [],
      effect: 'the suites of TLS 1.2 (those with forward secrecy)',
      unsupportedFlag: '--tls-cipher-suites',
    },
    tlsCurvePreferences: {
      type: listSchema(integerSchema()),
      default: [],
      effect: "the curves of TLS, by their numbers (OpenSSL's)",
    },
    tlsMinVersion: {
      type: enumSchema('', 'VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'),
      effect: 'the least version of TLS (VersionTLS12)',
      unsupportedFlag: '--tls-min-version',
    },
  });

const accessSettings = () =>
  declareSettings({
    authentication: {
      effect:
        '`x509.clientCAFile`: the authorities of clients ({x509.clientCAFile}); `webhook`: whether the API server reviews tokens (in a cluster {webhook.enabled}), and for how long that holds ({webhook.cacheTTL}); `anonymous`: whether clients without credentials are let in ({anonymous.enabled})',
      fields: {
        x509: {
          fields: {
            clientCAFile: {
              type: stringSchema,
              isPath: true,
              flag: {
                name: '--client-ca-file',
                argument: '<file>',
                type: path,
                help: 'certificates of the authorities of clients (default: {default})',
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
                help: 'let in clients without credentials (default: {default})',
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
                help: 'have the API server review tokens (default: {default} with --kubeconfig)',
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
        '`mode`: `{mode}`, the API server decides (in a cluster), or `AlwaysAllow`; `webhook`: for how long that holds ({webhook.cacheAuthorizedTTL}, denied {webhook.cacheUnauthorizedTTL})',
      fields: {
        mode: {
          type: enumSchema('', 'AlwaysAllow', 'Webhook'),
          default: 'Webhook',
          standaloneDefault: '',
          flag: {
            name: '--authorization-mode',
            argument: '<mode>',
            help: 'AlwaysAllow, or Webhook: ask the API server (default: {default})',
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
        'whether there are logs, exec, attach, port-forward and more beside pods, metrics, stats and health ({default})',
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
      effect: "whether it answers queries for the logs of the host's services ({default})",
    },
    enableProfilingHandler: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect:
        'whether `/debug/pprof/` is served: profiles and a heap snapshot for the developer tools of Chrome ({default})',
    },
    enableDebugFlagsHandler: {
      type: booleanSchema,
      default: true,
      allowsZeroValue: true,
      effect: 'whether `/debug/flags/v` changes the verbosity of the log ({default})',
    },
    enableContentionProfiling: {
      type: booleanSchema,
      ignored: 'JavaScript has no locks to contend for',
      unsupportedFlag: '--contention-profiling',
    },
    streamingConnectionIdleTimeout: {
      type: durationSchema(),
      default: '4h',
      ignored: 'it has no effect in a kubelet either',
      unsupportedFlag: '--streaming-connection-idle-timeout',
    },
  });

/** Settings of the node's own API: where it listens, its certificates, and who may use it. */
export const servingSettings = () => ({ ...listenSettings(), ...tls(), ...accessSettings(), ...handlerSettings() });

type ServingFields = FieldsOf<ReturnType<typeof servingSettings>>;

export const servingRules: readonly ConfigRule<ServingFields>[] = [
  createRule('enableSystemLogQuery', 'needs enableSystemLogHandler', (config) => {
    return config.enableSystemLogQuery !== true || config.enableSystemLogHandler !== false;
  }),
];
