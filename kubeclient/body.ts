/** The bodies of an API server's answers, none of which may fill the memory: whole, or line by line. */
import { nextTurn } from '../base/nextTurn.ts';
import { jsonOf, OddAnswer } from './answer.ts';

/** An answer that no API server gives: whoever waits for it is told instead of being drowned. */
export class TooLong extends OddAnswer {}

const MIB = 2 ** 20;
/** A list of thousands of pods fits. */
const LONGEST_BODY = 64 * MIB;
/** As large as no object of an API server may become. */
const LONGEST_LINE = 8 * MIB;
/** Of a refusal more is of no use. */
const LONGEST_REFUSAL = MIB;

/** All of it; throws where that is too long. */
export async function textOf(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of body) {
    text += piece;
    if (text.length > LONGEST_BODY) throw new TooLong(`the answer is longer than ${LONGEST_BODY / MIB} MiB`);
  }
  return text;
}

/** Of the body of a refusal as much as may be of use. */
export async function startOf(body: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of body) {
    text += piece;
    if (text.length > LONGEST_REFUSAL) break;
  }
  return text.slice(0, LONGEST_REFUSAL);
}

/** Maximum number of blank characters between two events. A server that sends nothing else would occupy a processor. */
const MAX_BLANK_CHARACTERS = 64 * 1024;

/**
 * Yields the JSON values of a body with one on each line. `asked` is the request. Each of several lines that arrive at
 * once gets a turn of the event loop, so that the work that one causes does not wait until the others are read.
 */
export async function* linesOf(body: AsyncIterable<string>, asked: string): AsyncGenerator<unknown> {
  let rest = '';
  let blanks = 0;
  for await (const piece of body) {
    const [first = '', ...others] = piece.split('\n');
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new TooLong(`a line of the watch is longer than ${LONGEST_LINE / MIB} MiB`);
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') {
        blanks += line.length + 1;
        if (blanks > MAX_BLANK_CHARACTERS)
          throw new TooLong(`${asked}: the server sends blank lines instead of events`);
        continue;
      }
      blanks = 0;
      if (index > 0) await nextTurn();
      yield jsonOf(line, asked);
    }
  }
}
