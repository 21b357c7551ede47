import * as z from 'zod/mini';
import { parseQuantity } from '../../../pod/quantity.ts';
import { boolean, duration, list, oneOf, section, text, whole } from '../fields.ts';

const nanosecondsOrDuration = z.union([duration(), whole(0, Number.MAX_SAFE_INTEGER)], {
  error: 'expected a duration such as "5s", or nanoseconds',
});
const quantity = z.custom<string | number>((value) => typeof value === 'string' || typeof value === 'number', {
  error: 'expected a quantity such as "64Ki"',
});
const logSize = z.custom<string | number>(
  (value) =>
    value === '' ||
    ((typeof value === 'string' || typeof value === 'number') && parseQuantity(String(value)) !== undefined),
  { error: 'expected a quantity such as "10Mi", or a negative one for no limit' },
);
const routing = section({ splitStream: z.optional(boolean), infoBufferSize: z.optional(quantity) });

/** The logs of containers, and the agent's own. */
export const logs = {
  podLogsDir: z.optional(text),
  containerLogMaxSize: z.optional(logSize),
  containerLogMaxFiles: z.optional(whole(2)),
  containerLogMaxWorkers: z.optional(whole(1)),
  containerLogMonitorInterval: z.optional(duration(3000, Number.POSITIVE_INFINITY, ' of at least 3s')),
  logging: z.optional(
    section({
      format: z.optional(oneOf('', 'text', 'json')),
      verbosity: z.optional(whole()),
      flushFrequency: z.optional(nanosecondsOrDuration),
      vmodule: z.optional(list(section({ filePattern: text, verbosity: whole() }))),
      options: z.optional(section({ text: z.optional(routing), json: z.optional(routing) })),
    }),
  ),
};
