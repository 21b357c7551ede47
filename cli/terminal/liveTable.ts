import { lineView } from './lineView.ts';
import type { LiveView, Output } from './liveView.ts';
import { type Input, isForeground } from './table/keyboard.ts';
import { terminalView } from './terminalView.ts';

/** Whether a table can be drawn: a terminal that knows how to, of whose foreground job this process is. */
export function canDraw(output: Output): boolean {
  const { TERM = 'dumb' } = process.env;
  return output.isTTY === true && TERM !== 'dumb' && TERM !== '' && isForeground();
}

/** Opens the live view of a node: a table on a terminal, with the keys of `input`. Elsewhere each change is a line. */
export function openLiveView(output: Output, format: 'text' | 'json', input?: Input): LiveView {
  return canDraw(output) ? terminalView(output, { input }) : lineView(output, format);
}
