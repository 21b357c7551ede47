import * as z from 'zod/mini';
import { parsePageAddress } from '../../../inspect/address.ts';
import { parseQuantity, wholeValue } from '../../../kubernetes/api/quantity.ts';
import {
  boolean,
  duration,
  fromText,
  list,
  markDuration,
  oneOf,
  quantity,
  section,
  text,
  textLike,
  whole,
} from '../fields.ts';
import { type Rule, rule } from './rule.ts';
import { declareSettings, type FieldsOf } from './setting.ts';

/** Settings of the agent's process. */
export const processSettings = () =>
  declareSettings({
    kubeletCgroups: {
      type: text,
      effect: 'the cgroup that the agent creates and moves itself to (the one that it is started in)',
      flag: {
        name: '--kubelet-cgroups',
        argument: '<name>',
        help: 'absolute name of a cgroup that the agent creates and moves itself to (default: the one that it is started in)',
      },
    },
    oomScoreAdj: {
      type: whole(-1000, 1000),
      default: -999,
      keepsZero: true,
      effect: 'how ready the kernel is to kill the agent when memory runs out ({default})',
      missingFlag: '--oom-score-adj',
    },
    maxOpenFiles: {
      type: whole(0, Number.MAX_SAFE_INTEGER),
      default: 1_000_000,
      ignored: 'the agent keeps the limit that it is started with',
      missingFlag: '--max-open-files',
    },
    failCgroupV1: {
      type: boolean,
      default: false,
      keepsZero: true,
      effect: 'whether a host with cgroup v1 is refused; here {default} unless set',
      missingFlag: '--fail-cgroupv1',
    },
    failSwapOn: {
      type: boolean,
      default: false,
      keepsZero: true,
      effect: 'whether a host with swap is refused; here {default} unless set',
      missingFlag: '--fail-swap-on',
    },
    protectKernelDefaults: {
      type: boolean,
      ignored: "the kernel's parameters are not checked",
      missingFlag: '--protect-kernel-defaults',
    },
  });

/** Minimum size of a recording in bytes. A smaller recording could not contain a keyframe of a node with many pods. */
const LEAST_RECORD = 2 ** 20;

const recordSize = z.pipe(
  textLike('a quantity of bytes such as "64Mi", of at least 1Mi, or 0', (size) => {
    const isQuantity = parseQuantity(size) !== undefined;
    return isQuantity && (wholeValue(size) === 0 || wholeValue(size) >= LEAST_RECORD);
  }),
  z.transform((size: string) => wholeValue(size)),
);

const inspectAddress = textLike(
  'an IP address and a port such as "127.0.0.1:10270", with "?open" for a page without a token, or nothing',
  (address) => address === '' || parsePageAddress(address) !== undefined,
);

const nanosecondsOrDuration = markDuration(
  z.union([duration(), whole(0, Number.MAX_SAFE_INTEGER)], {
    error: 'expected a duration such as "5s", or nanoseconds',
  }),
);
const filePattern = textLike('the pattern of a file, without "=" and ","', (pattern) => /^[^=,]+$/.test(pattern));
const bufferSize = quantity('a quantity such as "64Ki"');

const tracingEndpoint = textLike(
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
          type: oneOf('', 'text', 'json'),
          default: 'text',
          flag: {
            name: '--logging-format',
            argument: '<format>',
            type: oneOf('text', 'json'),
            help: "format of the agent's log: text or json (default: {default})",
          },
        },
        flushFrequency: {
          type: nanosecondsOrDuration,
          default: '5s',
          keepsZero: true,
          ignored: 'each line is written at once',
          missingFlag: '--log-flush-frequency',
        },
        verbosity: {
          type: whole(),
          default: 0,
          keepsZero: true,
          flag: {
            name: '--v',
            short: '-v',
            argument: '<level>',
            type: fromText(whole()),
            help: 'log verbosity: 0 info, 2 debug, 5 trace (default: {default})',
          },
        },
        vmodule: {
          type: list(section({ filePattern, verbosity: whole() })),
          ignored: 'the source files are others',
          missingFlag: '--vmodule',
        },
        options: {
          ignored: 'all is written to standard error at once',
          fields: {
            text: {
              fields: {
                splitStream: { type: boolean, missingFlag: '--log-text-split-stream' },
                infoBufferSize: { type: bufferSize, default: '0', missingFlag: '--log-text-info-buffer-size' },
              },
            },
            json: {
              fields: {
                splitStream: { type: boolean, missingFlag: '--log-json-split-stream' },
                infoBufferSize: { type: bufferSize, default: '0', missingFlag: '--log-json-info-buffer-size' },
              },
            },
          },
        },
      },
    },
    showHiddenMetricsForVersion: {
      type: textLike('a version such as "1.35"', (version) => /^(\d+\.\d+)?$/.test(version)),
      ignored: 'no metric is hidden',
    },
    tracing: {
      hidesDefault: true,
      ignored: 'no spans are sent yet',
      fields: { endpoint: { type: tracingEndpoint }, samplingRatePerMillion: { type: whole(0, 1_000_000) } },
    },
  });

type ObservationFields = FieldsOf<ReturnType<typeof observationSettings>>;

export const observationRules: readonly Rule<ObservationFields>[] = [
  rule('logging', 'vmodule is for the format "text" alone', ({ logging = {} }) => {
    return !logging.vmodule?.length || !logging.format || logging.format === 'text';
  }),
];
