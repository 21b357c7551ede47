/** What a remote command reads and writes on this side: the standard streams, and the terminal behind them. */
import { type Readable, Writable } from 'node:stream';
import type { TerminalSize } from '../../cri/streaming/remoteCommand.ts';
import { guardTerminal, type Input } from './table/keyboard.ts';

/** The part of a terminal's input that makes it give each key. */
type Keys = Pick<Input, 'isTTY' | 'setRawMode'>;

/** The output of this process, as far as it is a terminal. */
interface Sized {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** The streams of this process. What comes from a container is passed on byte by byte: it may be anything, and steer a terminal. */
export interface CommandTerminal {
  readonly input: Readable & Keys;
  readonly screen: Sized;
  /** Each resolves when there is room for more. */
  readonly writeOut: (data: Uint8Array) => Promise<void>;
  readonly writeErr: (data: Uint8Array) => Promise<void>;
  /** For words of our own; they are made printable there. */
  readonly say: (text: string) => void;
}

/** A stream for a function that writes. */
export const writableTo = (write: (data: Uint8Array) => Promise<void>): Writable =>
  new Writable({ write: (data: Uint8Array, _, done) => void write(data).then(() => done(), done) });

/** Gives every key to the container, also those that make signals; returns how to give the terminal back. */
export function takeKeys(input: Keys): () => void {
  const giveBack = () => void input.setRawMode?.(false);
  const take = () => void input.setRawMode?.(true);
  const unguard = guardTerminal({ giveBack, take, end: giveBack });
  take();
  return () => {
    unguard();
    giveBack();
  };
}

/**
 * Tells the size of the terminal, now and whenever it changes, until the function that it returns is called. With `redraws`
 * it tells another one first: what is in front of it draws its screen again only when that changes.
 */
export function followSize(screen: Sized, tell: (size: TerminalSize) => void, redraws = false): () => void {
  const now = () => {
    const { isTTY, columns: Width, rows: Height } = screen;
    if (isTTY && Width && Height) tell({ Width, Height });
  };
  const { isTTY, columns, rows } = screen;
  if (redraws && isTTY && columns && rows) tell({ Width: columns + 1, Height: rows + 1 });
  now();
  screen.on('resize', now);
  return () => void screen.off('resize', now);
}
