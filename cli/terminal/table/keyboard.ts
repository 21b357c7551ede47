/** Reads keys from a terminal, and restores the terminal on exit and suspension. */
import { readFileSync } from 'node:fs';
import { emitKeypressEvents, type Interface } from 'node:readline';
import type { Key } from './controls.ts';

/** The members of a terminal's input that this file uses. */
export interface Input extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
}

/** A key as reported by Node.js. */
interface Keypress {
  readonly name?: string;
  readonly sequence?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
}

/** Keys that the terminal turns into signals unless it is in raw mode. */
const SIGNAL_KEYS = { 'ctrl-c': 'SIGINT', 'ctrl-z': 'SIGTSTP', 'ctrl-\\': 'SIGQUIT' } as const;

const isSignalKey = (name: string): name is keyof typeof SIGNAL_KEYS => Object.hasOwn(SIGNAL_KEYS, name);

const PRINTABLE_PATTERN = /^\P{Cc}+$/u;

/** Converts a keypress. Letters and punctuation are named by their character. */
export function toKey(text: string | undefined, { name, sequence = '', ctrl, meta }: Keypress): Key {
  if (sequence === '\x1c') return { name: 'ctrl-\\' };
  if (ctrl) return { name: `ctrl-${name ?? ''}` };
  if (meta && name !== 'escape') return { name: `meta-${name ?? ''}` };
  const keyText = text !== undefined && PRINTABLE_PATTERN.test(text) ? { text } : {};
  if (name === 'enter') return { name: 'return' };
  return { name: name !== undefined && (name.length > 1 || text === undefined) ? name : (text ?? ''), ...keyText };
}

/** Value of the foreground process group in /proc/self/stat for a process without a controlling terminal. */
const NO_TERMINAL = '-1';

/**
 * Whether this process belongs to the terminal's foreground job. The kernel stops a background process that uses the
 * terminal.
 */
export function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , group, , , foreground] = stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ');
    return group === foreground || foreground === NO_TERMINAL;
  } catch {
    // This host does not have procfs, so assume that the process is in the foreground.
    return true;
  }
}

/** A keyboard in raw mode between `acquire` and `release`. */
export interface Keyboard {
  acquire(): void;
  release(): void;
  close(): void;
}

/**
 * Time in milliseconds after which an Esc is treated as a key press and not as the start of an escape sequence.
 * Terminals send the rest of a sequence immediately, even over a slow line. The default of Node.js is ten times as
 * long.
 */
const ESCAPE_MS = 50;

/** Reads keys if the input is a terminal. Signal keys are sent to the whole process group, as the terminal would. */
export function openKeyboard(input: Input | undefined, onKey: (key: Key) => void): Keyboard {
  if (!input?.isTTY) return { acquire: () => {}, release: () => {}, close: () => {} };
  const onKeypress = (text: string | undefined, keypress: Keypress) => {
    const key = toKey(text, keypress);
    if (isSignalKey(key.name)) process.kill(0, SIGNAL_KEYS[key.name]);
    else onKey(key);
  };
  // Safe cast, because Node.js reads only this field of the interface.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  input.on('keypress', onKeypress);
  return {
    acquire: () => {
      input.setRawMode?.(true);
      input.resume();
    },
    release: () => {
      input.setRawMode?.(false);
      input.pause();
    },
    close: () => {
      input.off('keypress', onKeypress);
    },
  };
}

/** Callbacks that are invoked when the session is suspended, is resumed, or is still open at exit. */
export interface TerminalSession {
  readonly release: () => void;
  readonly acquire: () => void;
  readonly close: () => void;
}

/** Releases the terminal before the process is suspended or exits. The returned function removes the handlers. */
export function guardTerminal({ release, acquire, close }: TerminalSession): () => void {
  const onStop = () => {
    release();
    process.kill(process.pid, 'SIGSTOP');
  };
  const onQuit = () => {
    close();
    process.off('SIGQUIT', onQuit);
    process.kill(process.pid, 'SIGQUIT');
  };
  process.on('exit', close);
  process.on('SIGTSTP', onStop);
  process.on('SIGCONT', acquire);
  process.on('SIGQUIT', onQuit);
  return () => {
    process.off('exit', close);
    process.off('SIGTSTP', onStop);
    process.off('SIGCONT', acquire);
    process.off('SIGQUIT', onQuit);
  };
}
