/** Reads response bodies as a whole or line by line, with a bounded amount of memory. */
import type { TurnLimiter } from '../base/async/turnLimiter.ts';
import { parseJsonBody, UnexpectedResponse } from './answer.ts';

/** Error for a response that is longer than any response of an API server. */
export class ResponseTooLong extends UnexpectedResponse {}

const MIB = 2 ** 20;
/** Maximum length of a body in characters. Even a list of thousands of pods is shorter. */
const MAX_BODY_LENGTH = 64 * MIB;
/**
 * Maximum length of a watch event in characters. It exceeds the size of the largest object that an API server accepts.
 */
const MAX_LINE_LENGTH = 8 * MIB;
/** Maximum number of characters to read from an error response. */
const MAX_ERROR_LENGTH = MIB;

/** Returns the whole body. Throws if it is too long. */
export async function readBody(body: AsyncIterable<string>): Promise<string> {
  let bodyText = '';
  for await (const chunk of body) {
    bodyText += chunk;
    if (bodyText.length > MAX_BODY_LENGTH)
      throw new ResponseTooLong(`the answer is longer than ${MAX_BODY_LENGTH / MIB} MiB`);
  }
  return bodyText;
}

/** Returns the start of the body of an error response. */
export async function readErrorBody(body: AsyncIterable<string>): Promise<string> {
  let bodyText = '';
  for await (const chunk of body) {
    bodyText += chunk;
    if (bodyText.length > MAX_ERROR_LENGTH) break;
  }
  return bodyText.slice(0, MAX_ERROR_LENGTH);
}

/**
 * Maximum number of whitespace characters between two events. Without this limit, a server that sends only whitespace
 * would keep the CPU busy.
 */
const MAX_BLANK_CHARACTERS = 64 * 1024;

/**
 * Yields the JSON values of a newline-delimited body. `request` describes the request in error messages. `turnLimiter`
 * lets the event loop run between values, because a burst of events can arrive in one chunk. In simulated time,
 * `turnLimiter` is undefined.
 */
export async function* readJsonLines(
  body: AsyncIterable<string>,
  request: string,
  turnLimiter?: TurnLimiter,
): AsyncGenerator<unknown> {
  let incompleteLine = '';
  let blankCharacterCount = 0;
  for await (const chunk of body) {
    const [first = '', ...following] = chunk.split('\n');
    const lines = [incompleteLine + first, ...following];
    incompleteLine = lines.pop() ?? '';
    if (incompleteLine.length > MAX_LINE_LENGTH)
      throw new ResponseTooLong(`a line of the watch is longer than ${MAX_LINE_LENGTH / MIB} MiB`);
    for (const line of lines) {
      if (line.trim() === '') {
        blankCharacterCount += line.length + 1;
        if (blankCharacterCount > MAX_BLANK_CHARACTERS)
          throw new ResponseTooLong(`${request}: the server sends blank lines instead of events`);
        continue;
      }
      blankCharacterCount = 0;
      await turnLimiter?.acquire();
      yield parseJsonBody(line, request);
    }
  }
}
