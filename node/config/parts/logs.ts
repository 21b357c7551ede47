import { isAbsolute, normalize } from 'node:path';
import * as z from 'zod/mini';
import { parseQuantity } from '../../../kubernetes/api/quantity.ts';
import { boolean, duration, list, oneOf, quantity, section, textLike, whole } from '../fields.ts';

const nanosecondsOrDuration = z.union([duration(), whole(0, Number.MAX_SAFE_INTEGER)], {
  error: 'expected a duration such as "5s", or nanoseconds',
});
const logSize = z.custom<string | number>(
  (value) =>
    value === '' ||
    ((typeof value === 'string' || typeof value === 'number') && parseQuantity(String(value)) !== undefined),
  { error: 'expected a quantity such as "10Mi", or a negative one for no limit' },
);
/** Absolute ones must be written as they are; a relative one is joined to the file's directory. */
const podLogsDir = textLike('a directory without "..", "//" or a slash at its end, in ASCII', (path) => {
  const isPlain = /^[\x20-\x7e]*$/.test(path);
  return isPlain && (!isAbsolute(path) || path === '/' || (normalize(path) === path && !path.endsWith('/')));
});
const filePattern = textLike('the pattern of a file, without "=" and ","', (pattern) => /^[^=,]+$/.test(pattern));
const routing = section({
  splitStream: z.optional(boolean),
  infoBufferSize: z.optional(quantity('a quantity such as "64Ki"')),
});

/** The logs of containers, and the agent's own. */
export const logs = () => ({
  podLogsDir: z.optional(podLogsDir),
  containerLogMaxSize: z.optional(logSize),
  containerLogMaxFiles: z.optional(whole(2)),
  containerLogMaxWorkers: z.optional(whole(1)),
  containerLogMonitorInterval: z.optional(duration(3000, Number.POSITIVE_INFINITY, ' of at least 3s')),
  logging: z.optional(
    section({
      format: z.optional(oneOf('', 'text', 'json')),
      verbosity: z.optional(whole()),
      flushFrequency: z.optional(nanosecondsOrDuration),
      vmodule: z.optional(list(section({ filePattern, verbosity: whole() }))),
      options: z.optional(section({ text: z.optional(routing), json: z.optional(routing) })),
    }),
  ),
});
