import * as z from 'zod/mini';
import { parsePageAddress } from '../../../inspect/address.ts';
import { parseQuantity, wholeValue } from '../../../kubernetes/api/quantity.ts';
import {
  booleanSchema,
  durationSchema,
  enumSchema,
  integerSchema,
  listSchema,
  markDuration,
  matchingStringSchema,
  parsedNumberSchema,
  quantitySchema,
  sectionSchema,
  stringSchema,
} from '../fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** Settings of the agent's process. */
export const processSettings = () =>
  declareSettings({
    kubeletCgroups: {
      type: stringSchema,
      effect: 'the cgroup that the agent creates and moves itself to (the one that it is started in)',
      flag: {
        name: '--kubelet-cgroups',
        argument: '<name>',
        help: 'absolute name of a cgroup that the agent creates and moves itself to (default: the one that it is started in)',
      },
    },
    oomScoreAdj: {
      type: integerSchema(-1000, 1000),
      default: -999,
      allowsZeroValue: true,
      effect: 'how ready the kernel is to kill the agent when memory runs out ({default})',
      unsupportedFlag: '--oom-score-adj',
    },
    maxOpenFiles: {
      type: integerSchema(0, Number.MAX_SAFE_INTEGER),
      default: 1_000_000,
      ignored: 'the agent keeps the limit that it is started with',
      unsupportedFlag: '--max-open-files',
    },
    failCgroupV1: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: 'whether a host with cgroup v1 is refused; here {default} unless set',
      unsupportedFlag: '--fail-cgroupv1',
    },
    failSwapOn: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: 'whether a host with swap is refused; here {default} unless set',
      unsupportedFlag: '--fail-swap-on',
    },
    protectKernelDefaults: {
      type: booleanSchema,
      ignored: "the kernel's parameters are not checked",
      unsupportedFlag: '--protect-kernel-defaults',
    },
  });

/** Minimum size of a recording in bytes. A smaller recording could not contain a keyframe of a node with many pods. */
const LEAST_RECORD = 2 ** 20;

const recordSize = z.pipe(
  matchingStringSchema('a quantity of bytes such as "64Mi", of at least 1Mi, or 0', (size) => {
    const isQuantity = parseQuantity(size) !== undefined;
    return isQuantity && (wholeValue(size) === 0 || wholeValue(size) >= LEAST_RECORD);
  }),
  z.transform((size: string) => wholeValue(size)),
);

const inspectAddress = matchingStringSchema(
  'an IP address and a port such as "127.0.0.1:10270", with "?open" for a page without a token, or nothing',
  (address) => address === '' || parsePageAddress(address) !== undefined,
);

const nanosecondsOrDuration = markDuration(
  z.union([durationSchema(), integerSchema(0, Number.MAX_SAFE_INTEGER)], {
    error: 'expected a duration such as "5s", or nanoseconds',
  }),
);
const filePattern = matchingStringSchema('the pattern of a file, without "=" and ","', (pattern) =>
  /^[^=,]+$/.test(pattern),
);
const bufferSize = quantitySchema('a quantity such as "64Ki"');

const tracingEndpoint = matchingStringSchema(
  'the address of a collector such as "localhost:4317" or "unix:///run/otel.sock"',
  (collector) => {
    const [scheme = ''] = collector.includes('//') ? collector.split(':') : ['dns'];
    return ['dns', 'unix', 'unix-abstract'].includes(scheme);
  },
);

/** Settings of the agent's recording, page, log, metrics and spans. */
export const observationSettings = () =>
  declareSettings({
    '--record-size': {
      type: recordSize,
      default: '64Mi',
      flag: {
        argument: '<quantity>',
        help: 'disk space for the recording of what the node does, which "statelet replay" plays; 0: none (default: {default})',
      },
    },
    '--inspect-address': {
      type: inspectAddress,
      default: '127.0.0.1:10270',
      flag: {
        argument: '<address>',
        help: 'address of the page that shows what every pod is doing, as host:port; with ?open the page needs no token; empty: no page (default: {default})',
      },
    },
    logging: {
      effect: "`format` (text, json) and `verbosity` of the agent's own log",
      fields: {
        format: {
          type: enumSchema('', 'text', 'json'),
          default: 'text',
          flag: {
            name: '--logging-format',
            argument: '<format>',
            type: enumSchema('text', 'json'),
            help: "format of the agent's log: text or json (default: {default})",
          },
        },
        flushFrequency: {
          type: nanosecondsOrDuration,
          default: '5s',
          allowsZeroValue: true,
          ignored: 'each line is written at once',
          unsupportedFlag: '--log-flush-frequency',
        },
        verbosity: {
          type: integerSchema(),
          default: 0,
          allowsZeroValue: true,
          flag: {
            name: '--v',
            short: '-v',
            argument: '<level>',
            type: parsedNumberSchema(integerSchema()),
            help: 'log verbosity: 0 info, 2 debug, 5 trace (default: {default})',
          },
        },
        vmodule: {
          type: listSchema(sectionSchema({ filePattern, verbosity: integerSchema() })),
          ignored: 'the source files are others',
          unsupportedFlag: '--vmodule',
        },
        options: {
          ignored: 'all is written to standard error at once',
          fields: {
            text: {
              fields: {
                splitStream: { type: booleanSchema, unsupportedFlag: '--log-text-split-stream' },
                infoBufferSize: { type: bufferSize, default: '0', unsupportedFlag: '--log-text-info-buffer-size' },
              },
            },
            json: {
              fields: {
                splitStream: { type: booleanSchema, unsupportedFlag: '--log-json-split-stream' },
                infoBufferSize: { type: bufferSize, default: '0', unsupportedFlag: '--log-json-info-buffer-size' },
              },
            },
          },
        },
      },
    },
    showHiddenMetricsForVersion: {
      type: matchingStringSchema('a version such as "1.35"', (version) => /^(\d+\.\d+)?$/.test(version)),
      ignored: 'no metric is hidden',
    },
    tracing: {
      hidesDefault: true,
      ignored: 'no spans are sent yet',
      fields: { endpoint: { type: tracingEndpoint }, samplingRatePerMillion: { type: integerSchema(0, 1_000_000) } },
    },
  });

type ObservationFields = FieldsOf<ReturnType<typeof observationSettings>>;

export const observationRules: readonly ConfigRule<ObservationFields>[] = [
  createRule('logging', 'vmodule is for the format "text" alone', ({ logging = {} }) => {
    return !logging.vmodule?.length || !logging.format || logging.format === 'text';
  }),
];
