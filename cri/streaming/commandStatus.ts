import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';

/** A Status of Kubernetes, as the error stream of a remote command has it in the end. */
const statusShape = z.object({
  status: z.optional(z.string()),
  message: z.optional(z.string()),
  reason: z.optional(z.string()),
  details: z.optional(
    z.object({
      causes: z.optional(z.array(z.object({ reason: z.optional(z.string()), message: z.optional(z.string()) }))),
    }),
  ),
});

const broken = (what: string): NodeFailure => new NodeFailure('StreamFailed', `error stream protocol error: ${what}`);

/** The exit code of a command that has run; throws with the runtime's words when it has not (as in client-go's v4.go). */
export function readCommandStatus(text: string): number {
  const { status, message = '', reason, details } = read(text);
  if (status === 'Success') return 0;
  if (status !== 'Failure') throw broken('unknown error');
  if (reason !== 'NonZeroExitCode') throw new NodeFailure('RuntimeError', message);
  const cause = details?.causes?.find((each) => each.reason === 'ExitCode');
  if (cause === undefined) throw broken('no ExitCode cause given');
  const code = cause.message ?? '';
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255) throw broken(`invalid exit code value ${JSON.stringify(code)}`);
  return Number(code);
}

function read(text: string): z.infer<typeof statusShape> {
  try {
    return statusShape.parse(JSON.parse(text));
  } catch {
    throw broken(`expected a Status, got ${JSON.stringify(text)}`);
  }
}
