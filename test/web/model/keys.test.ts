import { describe, expect, test } from '@jest/globals';
import { capOf, type KeyAction, keyGroups, noKeys, press, registerKeys } from '../../../web/model/keys.ts';

const stroke = (key: string, more = {}) => ({ key, shiftKey: false, isCommand: false, isTyping: false, ...more });

function keyed() {
  const did: string[] = [];
  const page = { keys: noKeys() };
  const action = (keys: string[], does: string, more: Partial<KeyAction> = {}): KeyAction => ({
    keys,
    group: 'Page',
    does,
    run: ({ key }) => void did.push(`${does} by ${key}`),
    ...more,
  });
  return { page, did, action };
}

describe('a key', () => {
  test('does what it is registered for, until that is taken back', () => {
    const { page, did, action } = keyed();
    const leave = registerKeys(page, [action(['+', '='], 'Zoom in')]);
    expect(press(page, stroke('='))).toBe(true);
    leave();
    expect(press(page, stroke('='))).toBe(false);
    expect(did).toEqual(['Zoom in by =']);
  });

  test('is that of the panel which means it, the later one of two', () => {
    const { page, did, action } = keyed();
    let isInChart = false;
    registerKeys(page, [action(['l'], 'Go live')]);
    registerKeys(page, [action(['l'], 'Open', { isMeant: () => isInChart })]);
    press(page, stroke('l'));
    isInChart = true;
    press(page, stroke('l'));
    expect(did).toEqual(['Go live by l', 'Open by l']);
  });

  test('with Ctrl is the browser’s, and in a field it is text, but for Escape', () => {
    const { page, did, action } = keyed();
    registerKeys(page, [action(['w'], 'Why'), action(['Escape'], 'Back')]);
    expect(press(page, stroke('w', { isCommand: true }))).toBe(false);
    expect(press(page, stroke('w', { isTyping: true }))).toBe(false);
    expect(press(page, stroke('Escape', { isTyping: true }))).toBe(true);
    expect(did).toEqual(['Back by Escape']);
  });
});

test('the overlay has the groups in their order, and keys that do the same together', () => {
  const { action } = keyed();
  const groups = keyGroups([
    action(['?'], 'Show the keys'),
    action(['j'], 'Move down', { group: 'Actors' }),
    action(['ArrowDown'], 'Move down', { group: 'Actors' }),
  ]);
  const lines = groups.map(({ group, actions }) => [
    group,
    ...actions.map(({ keys, does }) => `${keys.map(capOf).join(' ')}: ${does}`),
  ]);
  expect(lines).toEqual([
    ['Actors', 'j ↓: Move down'],
    ['Page', '?: Show the keys'],
  ]);
});
