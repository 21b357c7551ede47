/** The page of an agent in a browser, and what it takes there. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { percentile } from './statistics.ts';

// Of the browser: what is evaluated runs there.
declare const requestAnimationFrame: (onFrame: (now: number) => void) => number;
declare const addEventListener: (type: 'pointerdown', listener: () => void, options: object) => void;

const SIZE = { width: 1440, height: 900 };
/** The page is drawn, and what it asks for at its beginning has come. */
const SETTLES_MS = 3_000;

/** Opens the page at a place as a new visitor, whose browser has nothing of it yet. */
async function open(browser: Browser, url: string): Promise<Page> {
  const context = await browser.newContext({ viewport: SIZE });
  const page = await context.newPage();
  await page.goto(url);
  return page;
}

/** Does something with the page in a browser, once it has come to rest. */
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

/** In the browser: it is told of some time after it was. */
async function firstPaint(): Promise<FirstPaint> {
  for (;;) {
    const [page] = performance.getEntriesByName('first-paint');
    const [content] = performance.getEntriesByName('first-contentful-paint');
    if (page && content) return { page: page.startTime, content: content.startTime };
    await new Promise(requestAnimationFrame);
  }
}

/** When a new visitor sees the page, and when the first of what it says, in milliseconds from when it was asked for. */
export interface FirstPaint {
  readonly page: number;
  readonly content: number;
}

/** Once for each time. */
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

/** From one frame to the next, over some seconds: the 95th percentile, in milliseconds. */
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

/** From a click on the rail, at a share of it, until the node of then is drawn, in milliseconds. */
export async function momentTime(page: Page, share: number): Promise<number> {
  const box = await page.locator('.track .scene').boundingBox();
  if (box === null) throw new Error('the page has no rail');
  await page.evaluate(() => {
    const clicked = new Promise<number>((resolve) => {
      addEventListener('pointerdown', () => resolve(performance.now()), { capture: true, once: true });
    });
    Object.assign(globalThis, { clicked });
  });
  await page.mouse.click(box.x + share * box.width, box.y + box.height * 0.8);
  return page.evaluate(async () => {
    const began: number = await Reflect.get(globalThis, 'clicked');
    const nextFrame = () => new Promise(requestAnimationFrame);
    const answered = () =>
      performance
        .getEntriesByType('resource')
        .some(({ name, startTime }) => /\/api\/snapshot\?at=/.test(name) && startTime >= began);
    while (!answered()) await nextFrame();
    // It is drawn in the frame after the answer.
    await nextFrame();
    await nextFrame();
    performance.clearResourceTimings();
    return performance.now() - began;
  });
}
