/**
 * Manages the keyboard shortcuts of the page. Panels register their shortcuts, the overlay lists them, and one listener
 * dispatches key presses.
 */
import { type Signal, signal } from '@preact/signals';

/** The groups of the overlay, in display order. */
const KEY_GROUPS = ['Actors', 'Time', 'Chart', 'Story', 'Page'] as const;

/** A keyboard shortcut. */
export interface KeyAction {
  /** Values of `KeyboardEvent.key`, e.g. `j`, `ArrowDown`, ` ` or `?`. All of them have the same effect. */
  readonly keys: readonly string[];
  readonly group: (typeof KEY_GROUPS)[number];
  /** Imperative description for the overlay, e.g. `Move down`. */
  readonly description: string;
  readonly run: (stroke: KeyPress) => void;
  /** Whether the shortcut is active, for example because its panel has the focus. The default is always. */
  readonly isActive?: () => boolean;
}

/** A key press. */
export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  /** Whether Ctrl, Alt or Meta is pressed. The browser handles these combinations. */
  readonly hasModifier: boolean;
  /** Whether the focus is in a text field, where only Escape is a shortcut. */
  readonly isTyping: boolean;
}

/** The part of the page state that contains the shortcuts. */
export interface KeyRegistry {
  readonly keys: Signal<readonly KeyAction[]>;
}

/** Creates an empty list of shortcuts. */
export const createKeys = (): KeyRegistry['keys'] => signal<readonly KeyAction[]>([]);

/**
 * Registers shortcuts until the returned function is called. If several shortcuts are active for a key, the latest one
 * wins.
 */
export function registerKeys({ keys }: KeyRegistry, actions: readonly KeyAction[]): () => void {
  keys.value = [...keys.peek(), ...actions];
  return () => {
    keys.value = keys.peek().filter((each) => !actions.includes(each));
  };
}

/** Runs the shortcut for a key press. Returns false if there is none, in which case the browser handles the key. */
export function handleKey({ keys }: KeyRegistry, stroke: KeyPress): boolean {
  if (stroke.hasModifier || (stroke.isTyping && stroke.key !== 'Escape')) return false;
  const action = keys.peek().findLast((each) => each.keys.includes(stroke.key) && (each.isActive?.() ?? true));
  action?.run(stroke);
  return action !== undefined;
}

/** Symbols and abbreviations of keys. */
const KEY_LABELS: ReadonlyMap<string, string> = new Map([
  ['ArrowUp', '↑'],
  ['ArrowDown', '↓'],
  ['ArrowLeft', '←'],
  ['ArrowRight', '→'],
  [' ', 'Space'],
  ['Escape', 'Esc'],
]);

/** Returns the label of a key. */
export const keyLabel = (key: string): string => KEY_LABELS.get(key) ?? key;

/** Returns the content of the overlay by group. Keys with the same description share an entry. */
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
