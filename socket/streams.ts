/** Handles the POST requests of the socket: `/exec` and `/attach`. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod/mini';
import { type FailureReason, messageOf, NodeFailure } from '../base/failure.ts';
import type { AgentPort, StreamRequest } from './agent.ts';
import type { RouteResponse } from './routes.ts';
import { failureStatus } from './status.ts';

/** Maximum size of a request body in bytes, which is roughly the kernel's limit for the arguments of a program. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

const streamFields = {
  uid: z.string(),
  container: z.string(),
  stdin: z.boolean(),
  stdout: z.boolean(),
  stderr: z.boolean(),
  tty: z.boolean(),
};
const execRequestSchema = z.strictObject({ ...streamFields, command: z.array(z.string()).check(z.minLength(1)) });
const attachRequestSchema = z.strictObject(streamFields);

/** HTTP codes that the kubelet uses for failures with these reasons. All other failures are internal errors (500). */
const HTTP_STATUS_CODES: ReadonlyMap<FailureReason, number> = new Map([
  ['BadRequest', 400],
  ['NotFound', 404],
  ['Unimplemented', 501],
]);

/** Responds with the URL at which the runtime serves the requested streams. */
export async function handleStreamRequest(
  agent: AgentPort,
  path: string,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<RouteResponse> {
  try {
    return { code: 200, body: await agent.stream(parseStreamRequest(path, await readBody(request)), signal) };
  } catch (error) {
    const reason = error instanceof NodeFailure ? error.reason : 'InternalError';
    const code = HTTP_STATUS_CODES.get(reason) ?? 500;
    return { code, body: failureStatus(code, reason, messageOf(error)) };
  }
}

function parseStreamRequest(path: string, body: string): StreamRequest {
  const requestSchema = path === '/exec' ? execRequestSchema : attachRequestSchema;
  const parseResult = requestSchema.safeParse(parseJson(body));
  if (parseResult.success) return parseResult.data;
  const [issue] = parseResult.error.issues;
  throw new NodeFailure('BadRequest', `${path}: ${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NodeFailure('BadRequest', 'expected JSON');
  }
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bodyLength = 0;
  for await (const part of request) {
    bodyLength += part.length;
    if (bodyLength > MAX_BODY_BYTES)
      throw new NodeFailure('BadRequest', `the request has more than ${MAX_BODY_BYTES} bytes`);
    chunks.push(part);
  }
  return Buffer.concat(chunks).toString('utf8');
}
