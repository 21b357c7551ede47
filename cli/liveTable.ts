import { lineView } from './lineView.ts';
import type { LiveView, Output } from './liveView.ts';
import { type Input, isForeground } from './table/keyboard.ts';
import { terminalView } from './terminalView.ts';

/** Whether a table can be drawn: a terminal that knows how to, of whose foreground job this process is. */
export function canDraw(output: Output): boolean {
  const { TERM = 'dumb' } = process.env;
  return output.isTTY === true && TERM !== 'dumb' && TERM !== '' && isForeground();
}

/** The live view of a node on an output: a table on a terminal, with the keys of `input`; elsewhere one line a change. */
export function openLiveView(output: Output, input?: Input): LiveView {
  return canDraw(output) ? terminalView(output, { input }) : lineView(output);
}
