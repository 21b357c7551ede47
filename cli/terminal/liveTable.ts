import { lineView } from './lineView.ts';
import type { LiveView, Output } from './liveView.ts';
import { type Input, isForeground } from './table/keyboard.ts';
import { terminalView } from './terminalView.ts';

/** Whether the output is a terminal that supports cursor control, and this process belongs to its foreground job. */
export function canDraw(output: Output): boolean {
  const { TERM = 'dumb' } = process.env;
  return output.isTTY === true && TERM !== 'dumb' && TERM !== '' && isForeground();
}

/**
 * Opens the live view of a node. On a terminal, this is a table that the keys of `input` control. Otherwise, each
 * change is printed as a line.
 */
export function openLiveView(output: Output, format: 'text' | 'json', input?: Input): LiveView {
  return canDraw(output) ? terminalView(output, { input }) : lineView(output, format);
}
