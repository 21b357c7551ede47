import { describe, expect, test } from '@jest/globals';
import {
  createKeys,
  handleKey,
  type KeyAction,
  keyGroups,
  keyLabel,
  registerKeys,
} from '../../../../web/model/navigation/keys.ts';

const stroke = (key: string, more = {}) => ({ key, shiftKey: false, hasModifier: false, isTyping: false, ...more });

function keyed() {
  const did: string[] = [];
  const page = { keys: createKeys() };
  const action = (keys: string[], description: string, more: Partial<KeyAction> = {}): KeyAction => ({
    keys,
    group: 'Page',
    description,
    run: ({ key }) => void did.push(`${description} by ${key}`),
    ...more,
  });
  return { page, did, action };
}

describe('a key', () => {
  test('runs its action until the action is unregistered', () => {
    const { page, did, action } = keyed();
    const leave = registerKeys(page, [action(['+', '='], 'Zoom in')]);
    expect(handleKey(page, stroke('='))).toBe(true);
    leave();
    expect(handleKey(page, stroke('='))).toBe(false);
    expect(did).toEqual(['Zoom in by =']);
  });

  test('runs the action of the active panel, or the latest of two', () => {
    const { page, did, action } = keyed();
    let isInChart = false;
    registerKeys(page, [action(['l'], 'Go live')]);
    registerKeys(page, [action(['l'], 'Open', { isActive: () => isInChart })]);
    handleKey(page, stroke('l'));
    isInChart = true;
    handleKey(page, stroke('l'));
    expect(did).toEqual(['Go live by l', 'Open by l']);
  });

  test('is left to the browser with Ctrl and in a text field, except for Escape', () => {
    const { page, did, action } = keyed();
    registerKeys(page, [action(['w'], 'Why'), action(['Escape'], 'Back')]);
    expect(handleKey(page, stroke('w', { hasModifier: true }))).toBe(false);
    expect(handleKey(page, stroke('w', { isTyping: true }))).toBe(false);
    expect(handleKey(page, stroke('Escape', { isTyping: true }))).toBe(true);
    expect(did).toEqual(['Back by Escape']);
  });
});

test('the overlay lists the groups in order and merges keys with the same action', () => {
  const { action } = keyed();
  const groups = keyGroups([
    action(['?'], 'Show the keys'),
    action(['j'], 'Move down', { group: 'Actors' }),
    action(['ArrowDown'], 'Move down', { group: 'Actors' }),
  ]);
  const lines = groups.map(({ group, actions }) => [
    group,
    ...actions.map(({ keys, description }) => `${keys.map(keyLabel).join(' ')}: ${description}`),
  ]);
  expect(lines).toEqual([
    ['Actors', 'j ↓: Move down'],
    ['Page', '?: Show the keys'],
  ]);
});
