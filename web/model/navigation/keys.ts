/**
 * Manages the keyboard shortcuts of the page. Panels register their shortcuts, the overlay lists them, and one listener
 * dispatches key presses.
 */
import { type Signal, signal } from '@preact/signals';

/** The groups of the overlay, in display order. */
const KEY_GROUPS = ['Actors', 'Time', 'Chart', 'Story', 'Page'] as const;

export interface KeyAction {
  /** Values of `KeyboardEvent.key`, e.g. `j`, `ArrowDown`, ` ` or `?`, each of which triggers the shortcut. */
  readonly keys: readonly string[];
  readonly group: (typeof KEY_GROUPS)[number];
  /** Description for the overlay, in the imperative, e.g. `Move down`. */
  readonly description: string;
  readonly run: (keyPress: KeyPress) => void;
  /** Whether the shortcut is active, e.g. because its panel has the focus. If undefined, it is always active. */
  readonly isActive?: () => boolean;
}

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  /** Whether Ctrl, Alt or Meta is pressed. The browser handles such combinations. */
  readonly hasModifier: boolean;
  /** Whether the focus is in a text field, where only Escape is a shortcut. */
  readonly isTyping: boolean;
}

/** The part of the page state that contains the shortcuts. */
export interface KeyRegistry {
  readonly keys: Signal<readonly KeyAction[]>;
}

/** Creates an empty registry of shortcuts. */
export const createKeys = (): KeyRegistry['keys'] => signal<readonly KeyAction[]>([]);

/**
 * Registers shortcuts and returns a function that unregisters them. If several active shortcuts have the same key, the
 * latest one wins.
 */
export function registerKeys({ keys }: KeyRegistry, actions: readonly KeyAction[]): () => void {
  keys.value = [...keys.peek(), ...actions];
  return () => {
    keys.value = keys.peek().filter((each) => !actions.includes(each));
  };
}

/** Runs the shortcut for a key press. Returns false if there is none, in which case the browser handles the key. */
export function handleKey({ keys }: KeyRegistry, keyPress: KeyPress): boolean {
  if (keyPress.hasModifier || (keyPress.isTyping && keyPress.key !== 'Escape')) return false;
  const action = keys.peek().findLast((each) => each.keys.includes(keyPress.key) && (each.isActive?.() ?? true));
  action?.run(keyPress);
  return action !== undefined;
}

/** Symbols and abbreviations that represent keys. */
const KEY_LABELS: ReadonlyMap<string, string> = new Map([
  ['ArrowUp', '↑'],
  ['ArrowDown', '↓'],
  ['ArrowLeft', '←'],
  ['ArrowRight', '→'],
  [' ', 'Space'],
  ['Escape', 'Esc'],
]);

/** Returns the label that the overlay shows for a key. */
export const keyLabel = (key: string): string => KEY_LABELS.get(key) ?? key;

/** Returns the shortcuts by group, for the overlay. Shortcuts with the same description share an entry. */
export function keyGroups(actions: readonly KeyAction[]): { readonly group: string; readonly actions: KeyAction[] }[] {
  return KEY_GROUPS.map((group) => {
    const actionByDescription = new Map<string, KeyAction>();
    for (const action of actions.filter((each) => each.group === group)) {
      const keys = [...(actionByDescription.get(action.description)?.keys ?? []), ...action.keys];
      actionByDescription.set(action.description, { ...action, keys });
    }
    return { group, actions: [...actionByDescription.values()] };
  }).filter((each) => each.actions.length > 0);
}
