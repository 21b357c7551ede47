/** Tests the contrast of the page's colors in both themes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { STATE_TAGS } from '../../machines/shared/stateMeta.ts';
import { colorClass } from '../../web/model/categoryIcons.ts';
import { root } from '../support/root.ts';

const css = readFileSync(join(root, 'web/style.css'), 'utf8');

/** Light and dark color of each token, keyed by name. */
const tokens = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(([, name = '', light = '', dark = '']) => [
    name,
    { light, dark },
  ]),
);

/** Returns the relative luminance of a color as defined by WCAG 2. */
function luminance(colour: string): number {
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

const PAPERS = ['panel', 'raised', 'hover', 'accent-bg', 'past-bg'];
/** Text colors that must be readable on every background. */
const TEXTS = ['text', 'text-2', 'text-3', 'retry', 'failed', 'broken', 'past', 'accent'];
/** Texts of healthy actors have no color in a selected row or in the past. */
const CALM_TEXTS = ['steady', 'working', 'waiting', 'done'];

/** Colors of texts that have their own background, with that background. */
const ON_FILLS = [
  ['retry', 'retry-bg'],
  ['retry-on', 'retry-fill'],
  ['steady-on', 'steady-fill'],
  ['working-on', 'working-fill'],
  ['text-2', 'wait-fill'],
] as const;

/** Lines and icons of the charts. */
const MARKS = ['retry-g', 'trail', 'accent', 'past'];

const tint = Number(/\.chip \{[^}]*color-mix\(in srgb, currentColor (\d+)%, var\(--panel\)\)/.exec(css)?.[1]) / 100;

/** Mixes two colors like `color-mix`. */
function mixed(ink: string, paper: string): string {
  const part = (colour: string, at: number) => Number.parseInt(colour.slice(at, at + 2), 16);
  const parts = [1, 3, 5].map((at) => Math.round(tint * part(ink, at) + (1 - tint) * part(paper, at)));
  return `#${parts.map((each) => each.toString(16).padStart(2, '0')).join('')}`;
}

function colourOf(token: string, scheme: 'light' | 'dark'): string {
  const found = tokens.get(token);
  if (!found) throw new Error(`web/style.css has no --${token} of two colours`);
  return found[scheme];
}

describe.each(['light', 'dark'] as const)('in the %s scheme', (scheme) => {
  const tooFaint = (pairs: readonly (readonly [string, string])[], least: number) =>
    pairs
      .map(([ink, paper]) => ({
        pair: `${ink} on ${paper}`,
        is: contrast(colourOf(ink, scheme), colourOf(paper, scheme)),
      }))
      .filter(({ is }) => is < least)
      .map(({ pair, is }) => `${pair}: ${is.toFixed(2)}`);

  test('all text has a contrast of 4.5 to its background', () => {
    const pairs = TEXTS.flatMap((ink) => PAPERS.map((paper) => [ink, paper] as const));
    const calm = CALM_TEXTS.flatMap((ink) => PAPERS.slice(0, 3).map((paper) => [ink, paper] as const));
    expect(tooFaint([...pairs, ...calm, ...ON_FILLS], 4.5)).toEqual([]);
  });

  test('a chip is readable on the tint of its own color', () => {
    const tints = STATE_TAGS.map((tag) => colorClass(tag).slice('c-'.length)).map((token) => {
      const [ink, panel] = [colourOf(token, scheme), colourOf('panel', scheme)];
      return { token, is: contrast(ink, mixed(ink, panel)) };
    });
    expect(tints.filter(({ is }) => is < 4.5)).toEqual([]);
  });

  test('all icons have a contrast of 3 to the panel', () => {
    const marks = [...MARKS, ...STATE_TAGS.map((tag) => colorClass(tag).slice('c-'.length))];
    expect(
      tooFaint(
        marks.map((mark) => [mark, 'panel'] as const),
        3,
      ),
    ).toEqual([]);
  });
});

test('each category has a class that sets its color', () => {
  const classes = STATE_TAGS.map((tag) => `.${colorClass(tag)} {`);
  expect(classes.filter((each) => !css.includes(each))).toEqual([]);
});
