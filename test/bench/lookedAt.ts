/** Opens the page of an agent in a browser and measures how long it takes to be drawn. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { percentile } from './statistics.ts';

// Functions of the browser, for functions that `evaluate` runs there.
declare const requestAnimationFrame: (onFrame: (now: number) => void) => number;
declare const addEventListener: (type: 'pointerdown', listener: () => void, options: object) => void;

const SIZE = { width: 1440, height: 900 };
/** Time after which the page has received and drawn everything that it requests when it opens. */
const SETTLES_MS = 3_000;

/** Opens a URL as a new visitor, with an empty browser cache. */
async function open(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Opens the page, waits until it is completely drawn, and calls `use` with it. */
export async function lookAt<T>(browser: Browser, url: string, use: (page: Page) => Promise<T>): Promise<T> {
  const page = await open(browser, url);
  try {
    await page.locator('.row').first().waitFor();
    await pause(SETTLES_MS);
    return await use(page);
  } finally {
    await page.context().close();
  }
}

/** Returns the times of the first paint. Runs in the browser, which publishes them with a delay. */
async function firstPaint(): Promise<FirstPaint> {
  for (;;) {
    const [page] = performance.getEntriesByName('first-paint');
    const [content] = performance.getEntriesByName('first-contentful-paint');
    if (page && content) return { page: page.startTime, content: content.startTime };
    await new Promise(requestAnimationFrame);
  }
}

/** Times from the request until a new visitor sees the page, and until the visitor sees its content, in milliseconds. */
export interface FirstPaint {
  readonly page: number;
  readonly content: number;
}

/** Opens the page `times` times, each time as a new visitor. */
export async function firstPaints(browser: Browser, url: string, times: number): Promise<FirstPaint[]> {
  const paints: FirstPaint[] = [];
  for (let time = 0; time < times; time += 1) {
    const page = await open(browser, url);
    await page.locator('.row').first().waitFor();
    paints.push(await page.evaluate(firstPaint));
    await page.context().close();
  }
  return paints;
}

/** Returns the 95th percentile of the intervals between frames over some seconds, in milliseconds. */
export async function frameTime(page: Page, seconds: number): Promise<number> {
  const times = await page.evaluate(
    (ms) =>
      new Promise<number[]>((resolve) => {
        const found: number[] = [];
        const began = performance.now();
        let last = began;
        const onFrame = (now: number) => {
          found.push(now - last);
          last = now;
          if (now - began < ms) requestAnimationFrame(onFrame);
          else resolve(found);
        };
        requestAnimationFrame(onFrame);
      }),
    seconds * 1_000,
  );
  return percentile(times.slice(1), 95);
}

/** Returns the time from a click on the rail, at a share of its width, until the node of that time is drawn. */
export async function momentTime(page: Page, share: number): Promise<number> {
  const box = await page.locator('.track .scene').boundingBox();
  if (box === null) throw new Error('the page has no rail');
  return clickTime(page, { x: box.x + share * box.width, y: box.y + box.height * 0.8 }, '/api/snapshot?at=');
}

/** Returns the time from a click on the row of an actor until the answer about the actor is drawn. */
export async function answerTime(page: Page, row: number): Promise<number> {
  const box = await page.locator('.row .name').nth(row).boundingBox();
  if (box === null) throw new Error(`the page has no row ${row}`);
  return clickTime(page, { x: box.x + box.width / 2, y: box.y + box.height / 2 }, '/api/detail?path=');
}

/** Returns the time in milliseconds from a click until the response to the request that it causes is drawn. */
async function clickTime(page: Page, { x, y }: { x: number; y: number }, request: string): Promise<number> {
  await page.evaluate(() => {
    const clicked = new Promise<number>((resolve) => {
      addEventListener('pointerdown', () => resolve(performance.now()), { capture: true, once: true });
    });
    Object.assign(globalThis, { clicked });
  });
  await page.mouse.click(x, y);
  return page.evaluate(async (part) => {
    const clickedAt: number = await Reflect.get(globalThis, 'clicked');
    const nextFrame = () => new Promise(requestAnimationFrame);
    const hasResponse = () =>
      performance
        .getEntriesByType('resource')
        .some(({ name, startTime }) => name.includes(part) && startTime >= clickedAt);
    while (!hasResponse()) await nextFrame();
    // The response is drawn in the frame after it.
    await nextFrame();
    await nextFrame();
    performance.clearResourceTimings();
    return performance.now() - clickedAt;
  }, request);
}
