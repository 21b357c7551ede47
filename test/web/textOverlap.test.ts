/** Tests that no texts of the page overlap, regardless of the length of names, reasons and keys. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { LONG_PLACES } from './support/longNames.ts';
import { type Looking, lookAt, NodeWithLongNames } from './support/pageOnServer.ts';
import { textOverlaps } from './support/textBoxes.ts';

const SIZES = [
  { width: 1280, height: 860 },
  { width: 800, height: 860 },
];

let looking: Looking;

beforeAll(async () => {
  looking = await lookAt(await NodeWithLongNames.make());
});
afterAll(() => looking?.close());

/** Waits until a page has loaded completely. */
async function isDrawn(page: Page): Promise<void> {
  await page.locator('.lanes .timeline svg, .podpage .manifest, .no-story').first().waitFor();
  await page.waitForTimeout(300);
}

/** Returns the overlaps at a URL in all window sizes. */
async function overlapsAt(place: string): Promise<string[]> {
  const all: string[] = [];
  for (const size of SIZES) {
    const page = await looking.open(place, size);
    if (place !== LONG_PLACES.nobody) await isDrawn(page);
    const { count, found } = await textOverlaps(page);
    expect(count).toBeGreaterThan(20);
    all.push(...found.map((each) => `${size.width}: ${each}`));
    await page.close();
  }
  return all;
}

test.each(Object.entries(LONG_PLACES))('no two texts overlap on the page of the %s', async (_, place) => {
  expect(await overlapsAt(place)).toEqual([]);
});

test.each([
  ['as steps', '?view=steps'],
  ['as the whole chart', '?view=whole'],
  ['as the page of its pod', '?view=pod'],
])('no two texts overlap on the page of a failing container, %s', async (_, view) => {
  expect(await overlapsAt(`${LONG_PLACES.failing}${view}`)).toEqual([]);
});

test('no two texts overlap in the tabs beside the chart, and in the list of keys', async () => {
  const found: string[] = [];
  for (const size of SIZES) {
    const page = await looking.open(LONG_PLACES.failing, size);
    await isDrawn(page);
    if (!(await page.locator('.why').isVisible())) await page.keyboard.press('w');
    for (const tab of ['Log', 'Events', 'Manifest', 'Why']) {
      await page.locator('.why').getByRole('button', { name: tab }).click();
      await page.waitForTimeout(300);
      found.push(...(await textOverlaps(page)).found.map((each) => `${size.width}, ${tab}: ${each}`));
    }
    await page.keyboard.press('?');
    await page.locator('dialog[open]').waitFor();
    found.push(...(await textOverlaps(page)).found.map((each) => `${size.width}, keys: ${each}`));
    await page.close();
  }
  expect(found).toEqual([]);
});

test('overlapping texts are detected', async () => {
  const page = await looking.open(LONG_PLACES.failing, SIZES[0]);
  await isDrawn(page);
  await page.evaluate("document.querySelector('.answer').style.marginTop = '-20px'");
  expect((await textOverlaps(page)).found).not.toEqual([]);
  await page.close();
});
