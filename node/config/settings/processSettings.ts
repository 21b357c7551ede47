import * as z from 'zod/mini';
import { parsePageAddress } from '../../../inspect/address.ts';
import { parseQuantity, wholeValue } from '../../../kubernetes/api/values/quantity.ts';
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
} from '../fields/fields.ts';
import { type ConfigRule, createRule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** Settings for the agent's process, and for the host checks that can prevent the agent from starting. */
export const processSettings = () =>
  declareSettings({
    kubeletCgroups: {
      type: stringSchema,
      effect: 'the cgroup that the agent creates and moves itself to (the cgroup in which it is started)',
      flag: {
        name: '--kubelet-cgroups',
        argument: '<name>',
        help: 'absolute name of a cgroup that the agent creates and moves itself to (default: the cgroup in which it is started)',
      },
    },
    oomScoreAdj: {
      type: integerSchema(-1000, 1000),
      default: -999,
      allowsZeroValue: true,
      effect: 'the oom_score_adj value of the agent ({default})',
      unsupportedFlag: '--oom-score-adj',
    },
    maxOpenFiles: {
      type: integerSchema(0, Number.MAX_SAFE_INTEGER),
      default: 1_000_000,
      effect: 'the hard and soft limit of open files of the agent ({default})',
      unsupportedFlag: '--max-open-files',
    },
    failCgroupV1: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: 'whether the agent refuses to start on a host with cgroup v1; {default} by default, unlike in a kubelet',
      unsupportedFlag: '--fail-cgroupv1',
    },
    failSwapOn: {
      type: booleanSchema,
      default: false,
      allowsZeroValue: true,
      effect: 'whether the agent refuses to start on a host with swap; {default} by default, unlike in a kubelet',
      unsupportedFlag: '--fail-swap-on',
    },
    protectKernelDefaults: {
      type: booleanSchema,
      effect:
        'whether the agent refuses to start if a kernel parameter differs from the value that a kubelet requires. If false, `run` sets these parameters; `up` does so only if the file sets this field',
      unsupportedFlag: '--protect-kernel-defaults',
    },
  });

/** Minimum size of a recording in bytes. A smaller recording could not contain a keyframe of a node with many pods. */
const MIN_RECORD_BYTES = 2 ** 20;

const recordSizeSchema = z.pipe(
  matchingStringSchema('a quantity of bytes such as "64Mi", of at least 1Mi, or 0', (size) => {
    const isQuantity = parseQuantity(size) !== undefined;
    return isQuantity && (wholeValue(size) === 0 || wholeValue(size) >= MIN_RECORD_BYTES);
  }),
  z.transform((size: string) => wholeValue(size)),
);

const inspectAddressSchema = matchingStringSchema(
  'an IP address and a port such as "127.0.0.1:10270", with "?open" for a page without a token, or nothing',
  (address) => address === '' || parsePageAddress(address) !== undefined,
);

const flushFrequencySchema = markDuration(
  z.union([durationSchema(), integerSchema(0, Number.MAX_SAFE_INTEGER)], {
    error: 'expected a duration such as "5s", or nanoseconds',
  }),
);
const vmodulePatternSchema = matchingStringSchema('the pattern of a file, without "=" and ","', (pattern) =>
  /^[^=,]+$/.test(pattern),
);
const bufferSizeSchema = quantitySchema('a quantity such as "64Ki"');

const tracingEndpointSchema = matchingStringSchema(
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
      type: recordSizeSchema,
      default: '64Mi',
      flag: {
        argument: '<quantity>',
        help: 'maximum disk space for the recording of the agent, which "statelet replay" reads; 0 disables recording (default: {default})',
      },
    },
    '--inspect-address': {
      type: inspectAddressSchema,
      default: '127.0.0.1:10270',
      flag: {
        argument: '<address>',
        help: 'address of the inspection page, as host:port; append ?open to allow access without a token; empty disables the page (default: {default})',
      },
    },
    logging: {
      effect: "`format` (text or json) and `verbosity` of the agent's log",
      fields: {
        format: {
          type: enumSchema('', 'text', 'json'),
          default: 'text',
          flag: {
            name: '--logging-format',
            argument: '<format>',
            type: enumSchema('text', 'json'),
            help: 'log format: text or json (default: {default})',
          },
        },
        flushFrequency: {
          type: flushFrequencySchema,
          default: '5s',
          allowsZeroValue: true,
          ignoredReason: 'log lines are written synchronously',
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
            help: 'log verbosity: 0 for info, 2 for debug, 5 for trace (default: {default})',
          },
        },
        vmodule: {
          type: listSchema(sectionSchema({ filePattern: vmodulePatternSchema, verbosity: integerSchema() })),
          ignoredReason: 'the agent has different source files',
          unsupportedFlag: '--vmodule',
        },
        options: {
          ignoredReason: 'the whole log is written to standard error synchronously',
          fields: {
            text: {
              fields: {
                splitStream: { type: booleanSchema, unsupportedFlag: '--log-text-split-stream' },
                infoBufferSize: {
                  type: bufferSizeSchema,
                  default: '0',
                  unsupportedFlag: '--log-text-info-buffer-size',
                },
              },
            },
            json: {
              fields: {
                splitStream: { type: booleanSchema, unsupportedFlag: '--log-json-split-stream' },
                infoBufferSize: {
                  type: bufferSizeSchema,
                  default: '0',
                  unsupportedFlag: '--log-json-info-buffer-size',
                },
              },
            },
          },
        },
      },
    },
    showHiddenMetricsForVersion: {
      type: matchingStringSchema('a version such as "1.35"', (version) => /^(\d+\.\d+)?$/.test(version)),
      ignoredReason: 'the node has no hidden metrics',
    },
    tracing: {
      hidesDefault: true,
      ignoredReason: 'no spans are sent yet',
      fields: {
        endpoint: { type: tracingEndpointSchema },
        samplingRatePerMillion: { type: integerSchema(0, 1_000_000) },
      },
    },
  });

type ObservationFields = FieldsOf<ReturnType<typeof observationSettings>>;

export const observationRules: readonly ConfigRule<ObservationFields>[] = [
  createRule('logging', 'vmodule is for the format "text" alone', ({ logging = {} }) => {
    return !logging.vmodule?.length || !logging.format || logging.format === 'text';
  }),
];
