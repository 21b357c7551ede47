/** The local side of a remote command: the standard streams and their terminal. */
import { type Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../cri/streaming/remoteCommand.ts';
import { guardTerminal, type Input } from './table/keyboard.ts';

/** The part of standard input that controls raw mode. */
type KeyInput = Pick<Input, 'isTTY' | 'setRawMode'>;

/** The part of standard output that provides the size of the terminal. */
interface SizedOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** The streams of this process. Output of containers is written unmodified, including escape sequences. */
export interface CommandTerminal {
  readonly input: Readable & KeyInput;
  readonly screen: SizedOutput;
  /**
   * Writes to standard output, and resolves when the stream accepts more data. `writeErr` does the same for standard
   * error.
   */
  readonly writeOut: (data: Uint8Array) => Promise<void>;
  readonly writeErr: (data: Uint8Array) => Promise<void>;
  /** Prints a message of the command itself, with control characters escaped. */
  readonly printMessage: (text: string) => void;
}

/** Wraps a write function in a stream. */
export const writableTo = (write: (data: Uint8Array) => Promise<void>): Writable =>
  new Writable({ write: (data: Uint8Array, _, done) => void write(data).then(() => done(), done) });

/**
 * Passes every key to the container, including those that generate signals. Returns a function that restores the
 * terminal.
 */
export function enterRawMode(input: KeyInput): () => void {
  const leaveRawMode = () => void input.setRawMode?.(false);
  const setRawMode = () => void input.setRawMode?.(true);
  const removeGuard = guardTerminal({ release: leaveRawMode, acquire: setRawMode, close: leaveRawMode });
  setRawMode();
  return () => {
    removeGuard();
    leaveRawMode();
  };
}

/**
 * Reports the size of the terminal now and after each change, until the returned function is called. With `forcesRedraw`,
 * first reports a different size, because an already running program redraws its screen only when the size changes.
 */
export function followSize(
  screen: SizedOutput,
  onSize: (size: TerminalSize) => void,
  forcesRedraw = false,
): () => void {
  const reportSize = () => {
    const { isTTY, columns: Width, rows: Height } = screen;
    if (isTTY && Width && Height) onSize({ Width, Height });
  };
  const { isTTY, columns, rows } = screen;
  if (forcesRedraw && isTTY && columns && rows) onSize({ Width: columns + 1, Height: rows + 1 });
  reportSize();
  screen.on('resize', reportSize);
  return () => void screen.off('resize', reportSize);
}
