/** Reads response bodies with limits on memory, as a whole or line by line. */
import type { Turns } from '../base/turns.ts';
import { parseJsonBody, UnexpectedResponse } from './answer.ts';

/** A response that is longer than any from an API server. */
export class ResponseTooLong extends UnexpectedResponse {}

const MIB = 2 ** 20;
/** Maximum length of a body. A list of thousands of pods is shorter. */
const MAX_BODY_LENGTH = 64 * MIB;
/** Maximum length of a watch event, which exceeds the largest object that an API server accepts. */
const MAX_LINE_LENGTH = 8 * MIB;
/** Maximum number of characters to read from an error response. */
const MAX_ERROR_LENGTH = MIB;

/** Returns the whole body. Throws if it is too long. */
export async function readBody(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk;
    if (text.length > MAX_BODY_LENGTH)
      throw new ResponseTooLong(`the answer is longer than ${MAX_BODY_LENGTH / MIB} MiB`);
  }
  return text;
}

/** Returns the start of the body of an error response. */
export async function readErrorBody(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const chunk of body) {
    text += chunk;
    if (text.length > MAX_ERROR_LENGTH) break;
  }
  return text.slice(0, MAX_ERROR_LENGTH);
}

/**
 * Maximum number of blank characters between two events. A server that sends only blanks would otherwise keep the CPU
 * busy.
 */
const MAX_BLANK_CHARACTERS = 64 * 1024;

/**
 * Yields the JSON values of a body with one value per line. `request` describes the request in errors. Values are
 * spread over `turns` of the event loop, because a burst of events can arrive in one turn, and the caller handles an
 * event before it requests the next one. `turns` is undefined in simulated time.
 */
export async function* readJsonLines(
  body: AsyncIterable<string>,
  request: string,
  turns?: Turns,
): AsyncGenerator<unknown> {
  let rest = '';
  let blankCharacters = 0;
  for await (const chunk of body) {
    const [first = '', ...following] = chunk.split('\n');
    const lines = [rest + first, ...following];
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_LENGTH)
      throw new ResponseTooLong(`a line of the watch is longer than ${MAX_LINE_LENGTH / MIB} MiB`);
    for (const line of lines) {
      if (line.trim() === '') {
        blankCharacters += line.length + 1;
        if (blankCharacters > MAX_BLANK_CHARACTERS)
          throw new ResponseTooLong(`${request}: the server sends blank lines instead of events`);
        continue;
      }
      blankCharacters = 0;
      await turns?.next();
      yield parseJsonBody(line, request);
    }
  }
}
