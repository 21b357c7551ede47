/** The two requests of the socket that have the runtime do something: `POST /exec` and `POST /attach`. */
import type { IncomingMessage } from 'node:http';
import * as z from 'zod/mini';
import { type FailureReason, messageOf, NodeFailure } from '../base/failure.ts';
import type { AgentPort, StreamRequest } from './agent.ts';
import type { Answer } from './routes.ts';
import { failure } from './status.ts';

/** As long as the arguments of a program may be, about. */
const BODY_LIMIT = 2 * 1024 * 1024;

const streamsShape = {
  uid: z.string(),
  container: z.string(),
  stdin: z.boolean(),
  stdout: z.boolean(),
  stderr: z.boolean(),
  tty: z.boolean(),
};
const execShape = z.strictObject({ ...streamsShape, command: z.array(z.string()).check(z.minLength(1)) });
const attachShape = z.strictObject(streamsShape);

/** The codes of a kubelet for what it refuses; what else goes wrong is an internal error. */
const CODES: ReadonlyMap<FailureReason, number> = new Map([
  ['BadRequest', 400],
  ['NotFound', 404],
  ['Unimplemented', 501],
]);

/** Answers with the place at which the runtime serves the streams that the body asks for. */
export async function answerStream(
  agent: AgentPort,
  path: string,
  request: IncomingMessage,
  signal: AbortSignal,
): Promise<Answer> {
  try {
    return { code: 200, body: await agent.stream(readRequest(path, await bodyOf(request)), signal) };
  } catch (error) {
    const reason = error instanceof NodeFailure ? error.reason : 'InternalError';
    const code = CODES.get(reason) ?? 500;
    return { code, body: failure(code, reason, messageOf(error)) };
  }
}

function readRequest(path: string, body: string): StreamRequest {
  const shape = path === '/exec' ? execShape : attachShape;
  const read = shape.safeParse(jsonOf(body));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new NodeFailure('BadRequest', `${path}: ${issue?.path.join('.') || 'body'}: ${issue?.message}`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new NodeFailure('BadRequest', 'expected JSON');
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request) {
    length += part.length;
    if (length > BODY_LIMIT) throw new NodeFailure('BadRequest', `the request has more than ${BODY_LIMIT} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}
