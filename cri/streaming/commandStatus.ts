import * as z from 'zod/mini';
import { NodeFailure } from '../../base/failure.ts';

/** Schema of the Kubernetes Status that ends the error stream of a remote command. */
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

const protocolError = (problem: string): NodeFailure =>
  new NodeFailure('StreamFailed', `error stream protocol error: ${problem}`);

/**
 * Returns the exit code in the Status of a command. Like client-go (`v4.go`), throws an error with the runtime's
 * message if the command did not run.
 */
export function parseCommandStatus(json: string): number {
  const { status, message = '', reason, details } = parseStatus(json);
  if (status === 'Success') return 0;
  if (status !== 'Failure') throw protocolError('unknown error');
  if (reason !== 'NonZeroExitCode') throw new NodeFailure('RuntimeError', message);
  const cause = details?.causes?.find((candidate) => candidate.reason === 'ExitCode');
  if (cause === undefined) throw protocolError('no ExitCode cause given');
  const code = cause.message ?? '';
  if (!/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw protocolError(`invalid exit code value ${JSON.stringify(code)}`);
  return Number(code);
}

function parseStatus(json: string): z.infer<typeof statusShape> {
  try {
    return statusShape.parse(JSON.parse(json));
  } catch {
    throw protocolError(`expected a Status, got ${JSON.stringify(json)}`);
  }
}
