/** The bodies of an API server's answers, none of which may fill the memory: whole, or line by line. */
import { nextTurn } from '../pod/nextTurn.ts';
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

/**
 * The objects of a body that is one of them on each line, as the lines become whole; `asked` is what it answers. Of many that
 * come at once each has a turn of the event loop: what the first sets off goes on while the others are read.
 */
export async function* linesOf(body: AsyncIterable<string>, asked: string): AsyncGenerator<unknown> {
  let rest = '';
  for await (const piece of body) {
    const [first = '', ...others] = piece.split('\n');
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new TooLong(`a line of the watch is longer than ${LONGEST_LINE / MIB} MiB`);
    for (const [index, line] of lines.entries()) {
      if (line.trim() === '') continue;
      if (index > 0) await nextTurn();
      yield jsonOf(line, asked);
    }
  }
}
