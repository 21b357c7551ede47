/** The keys of a terminal, and its way back to how it was: at every end, and while the process is suspended. */
import { readFileSync } from 'node:fs';
import { emitKeypressEvents, type Interface } from 'node:readline';
import type { Key } from './controls.ts';

/** The part of a terminal's input that is needed. */
export interface Input extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
}

/** What Node says of a key. */
interface Keypress {
  readonly name?: string;
  readonly sequence?: string;
  readonly ctrl?: boolean;
  readonly meta?: boolean;
  readonly shift?: boolean;
}

/** Keys that a terminal turns into signals itself while nobody reads its keys one by one: to all of the job. */
const SIGNAL_KEYS = { 'ctrl-c': 'SIGINT', 'ctrl-z': 'SIGTSTP', 'ctrl-\\': 'SIGQUIT' } as const;

const isSignalKey = (name: string): name is keyof typeof SIGNAL_KEYS => Object.hasOwn(SIGNAL_KEYS, name);

const PRINTABLE = /^\P{Cc}+$/u;

/** A key by its name; letters and signs by what they write. */
export function keyOf(text: string | undefined, { name, sequence = '', ctrl, meta }: Keypress): Key {
  if (sequence === '\x1c') return { name: 'ctrl-\\' };
  if (ctrl) return { name: `ctrl-${name ?? ''}` };
  if (meta && name !== 'escape') return { name: `meta-${name ?? ''}` };
  const writes = text !== undefined && PRINTABLE.test(text) ? { text } : {};
  if (name === 'enter') return { name: 'return' };
  return { name: name !== undefined && (name.length > 1 || text === undefined) ? name : (text ?? ''), ...writes };
}

/** What the kernel says of the foreground job where there is no controlling terminal. */
const NO_TERMINAL = '-1';

/** Whether this process is of the terminal's foreground job: another that touched the terminal would be stopped. */
export function isForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const [, , group, , , foreground] = stat
      .slice(stat.lastIndexOf(')') + 1)
      .trim()
      .split(' ');
    return group === foreground || foreground === NO_TERMINAL;
  } catch {
    // Not Linux.
    return true;
  }
}

/** A terminal that is read key by key. */
export interface Keyboard {
  take(): void;
  giveBack(): void;
  close(): void;
}

/**
 * So long an Esc may be the beginning of another key, in milliseconds: a terminal sends the rest of one at once, also over
 * a slow line. Node.js would wait for ten times that.
 */
const ESCAPE_MS = 50;

/** Reads keys of a terminal; of anything else, none. Those that are signals go to the process's whole group. */
export function openKeyboard(input: Input | undefined, onKey: (key: Key) => void): Keyboard {
  if (!input?.isTTY) return { take: () => {}, giveBack: () => {}, close: () => {} };
  const onKeypress = (text: string | undefined, keypress: Keypress) => {
    const key = keyOf(text, keypress);
    if (isSignalKey(key.name)) process.kill(0, SIGNAL_KEYS[key.name]);
    else onKey(key);
  };
  // Of the interface that it could belong to no more is read than this.
  emitKeypressEvents(input, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
  input.on('keypress', onKeypress);
  return {
    take: () => {
      input.setRawMode?.(true);
      input.resume();
    },
    giveBack: () => {
      input.setRawMode?.(false);
      input.pause();
    },
    close: () => {
      input.off('keypress', onKeypress);
    },
  };
}

/** What a terminal session does when it is suspended, goes on, or ends without being closed. */
export interface Session {
  readonly giveBack: () => void;
  readonly take: () => void;
  readonly end: () => void;
}

/** Gives the terminal back before the process stops or ends in any way that it hears of; returns how to end that. */
export function guardTerminal({ giveBack, take, end }: Session): () => void {
  const onStop = () => {
    giveBack();
    process.kill(process.pid, 'SIGSTOP');
  };
  const onQuit = () => {
    end();
    process.off('SIGQUIT', onQuit);
    process.kill(process.pid, 'SIGQUIT');
  };
  process.on('exit', end);
  process.on('SIGTSTP', onStop);
  process.on('SIGCONT', take);
  process.on('SIGQUIT', onQuit);
  return () => {
    process.off('exit', end);
    process.off('SIGTSTP', onStop);
    process.off('SIGCONT', take);
    process.off('SIGQUIT', onQuit);
  };
}
