/**
 * All keys of the page in one place: each panel registers what its keys do, the overlay lists them, and one listener
 * finds the one that was meant.
 */
import { type Signal, signal } from '@preact/signals';

/** The groups of the overlay, in its order. */
const KEY_GROUPS = ['Actors', 'Time', 'Chart', 'Story', 'Page'] as const;

/** What one or more keys do. */
export interface KeyAction {
  /** As the event names them (`KeyboardEvent.key`): `j`, `ArrowDown`, ` `, `?`; each does the same. */
  readonly keys: readonly string[];
  readonly group: (typeof KEY_GROUPS)[number];
  /** For the overlay, as an imperative: `Move down`. */
  readonly does: string;
  readonly run: (stroke: Stroke) => void;
  /** Whether they mean this just now, as the arrows do only in the panel that has the focus; absent: always. */
  readonly isMeant?: () => boolean;
}

/** A key that was pressed. */
export interface Stroke {
  readonly key: string;
  readonly shiftKey: boolean;
  /** Ctrl, Alt or Meta: those belong to the browser. */
  readonly isCommand: boolean;
  /** In a field that takes text; only Escape is ours there. */
  readonly isTyping: boolean;
}

/** What of the page has to do with keys. */
export interface Keyed {
  readonly keys: Signal<readonly KeyAction[]>;
}

/** The keys of a page that has no panels yet. */
export const noKeys = (): Keyed['keys'] => signal<readonly KeyAction[]>([]);

/** Registers what keys do until the function that it returns is called. Of two that are meant, the later one wins. */
export function registerKeys({ keys }: Keyed, actions: readonly KeyAction[]): () => void {
  keys.value = [...keys.peek(), ...actions];
  return () => {
    keys.value = keys.peek().filter((each) => !actions.includes(each));
  };
}

/** Does what the key is registered for; false: it is none of ours, and the browser's. */
export function press({ keys }: Keyed, stroke: Stroke): boolean {
  if (stroke.isCommand || (stroke.isTyping && stroke.key !== 'Escape')) return false;
  const action = keys.peek().findLast((each) => each.keys.includes(stroke.key) && (each.isMeant?.() ?? true));
  action?.run(stroke);
  return action !== undefined;
}

/** How keys are written on a keyboard. */
const CAPS: ReadonlyMap<string, string> = new Map([
  ['ArrowUp', '↑'],
  ['ArrowDown', '↓'],
  ['ArrowLeft', '←'],
  ['ArrowRight', '→'],
  [' ', 'Space'],
  ['Escape', 'Esc'],
]);

/** What stands on a key's cap. */
export const capOf = (key: string): string => CAPS.get(key) ?? key;

/** What the overlay lists: each group with what its keys do; keys that do the same stand together. */
export function keyGroups(actions: readonly KeyAction[]): { readonly group: string; readonly actions: KeyAction[] }[] {
  return KEY_GROUPS.map((group) => {
    const byWords = new Map<string, KeyAction>();
    for (const action of actions.filter((each) => each.group === group)) {
      const keys = [...(byWords.get(action.does)?.keys ?? []), ...action.keys];
      byWords.set(action.does, { ...action, keys });
    }
    return { group, actions: [...byWords.values()] };
  }).filter((each) => each.actions.length > 0);
}
