/** The page in a browser, on a node with containers. Changes on the node appear on the page. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startBrowser } from '../web/support/browser.ts';
import { eventually } from './support/eventually.ts';
import { forAllTests, nodeForAllTests } from './support/forAllTests.ts';
import { containerOf, upNode } from './support/node.ts';
import { fetchWithLink, linkTo, printedPageLink } from './support/pageLink.ts';
import { API_FAILS, API_PASSWORD, restOfShop, shop } from './support/shop.ts';
import { installedCommand } from './support/statelet.ts';

/** Directory for screenshots of the page. They are taken only if it is set, because they take minutes. */
const pictures = process.env.STATELET_PICTURES;

const API = '/pod/shop/checkout-api/container/api';
/** The background color of the timeline while it shows the past, in the dark theme. */
const VIOLET = 'rgb(27, 22, 41)';
const FULL = { width: 1440, height: 900 };

/** With a short maximum back-off, the next run is always soon. For the screenshots, the back-off grows as usual. */
const waits = pictures === undefined ? ['crashLoopBackOff: {maxContainerRestartPeriod: 10s}'] : [];
const node = await nodeForAllTests(() => upNode(...waits), {
  args: ['--inspect-address', '127.0.0.1:0'],
  by: await installedCommand(),
  prepare: ({ write }) =>
    Promise.all([...shop, ...(pictures === undefined ? [] : restOfShop)].map((pod) => write(pod.metadata.name, pod))),
});
const url = await printedPageLink(node.agent);
const browser = await forAllTests(async () => {
  const started = await startBrowser();
  return { open: (options: BrowserContextOptions) => started.newPage(options), end: () => started.close() };
});

/** Faults that no page may have: errors, violations of its security policy, requests to a different origin. */
const faults: string[] = [];

/** Opens a path of the node's page. */
async function pageAt(place: string, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await browser.open({ viewport: FULL, colorScheme: 'dark', ...options });
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      faults.push(`console: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', ({ message }) => faults.push(`error: ${message}`));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()} ${request.failure()?.errorText}`));
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin) faults.push(`request to ${request.url()}`);
  });
  await page.goto(linkTo(url, place));
  return page;
}

const rowOf = (page: Page, name: string) => page.locator('.row', { has: page.locator(`.name:text-is("${name}")`) });
const placeOf = (page: Page) => new URL(page.url());
/** Returns the time of day from the `at` parameter of the page's URL. */
const clockAt = (page: Page) => placeOf(page).searchParams.get('at')?.slice(11, 19) ?? '';
const backOffOf = (name: string, count: number) =>
  node.until(`waits after restart ${count}`, name, (pod) => {
    const { restartCount, state } = containerOf(pod, 'api');
    return restartCount >= count && state?.waiting?.reason === 'CrashLoopBackOff';
  });

test('the first view shows the container with the worst problem and its reason, before any other file has loaded', async () => {
  await backOffOf('checkout-api', 1);
  const html = await (await fetchWithLink(url, '/')).text();
  expect(html).toContain('checkout-api');
  const page = await pageAt('/');
  const first = page.locator('.row').nth(1);
  await first.locator('.c-retry').first().waitFor();
  expect(await page.locator('.row.sel').textContent()).toMatch(/container(?:api|main)/);
  expect(await page.locator('.row').nth(2).getAttribute('class')).toContain('sel');
  const name = (await first.locator('.name').textContent()) ?? '';
  // The container whose image cannot be pulled comes first, unless a pull is in progress.
  const why = name === 'checkout-api' ? 'exit code 3' : `image 127.0.0.1:1/media/${name}`;
  await page.locator('.answer').getByText(why).first().waitFor();
  await page.close();
});

test('the page requires the printed link, which the agent also writes to an owner-only file', async () => {
  for (const path of ['/', '/api/snapshot', `/api/detail?path=${API.slice(1)}`])
    expect([path, (await fetch(new URL(path, url))).status]).toEqual([path, 401]);
  const file = join(node.rootDir, 'statelet', 'page-link');
  expect(await readFile(file, 'utf8')).toBe(`${url}\n`);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('an actor is selected by a click or by keys, and can be searched by its problem', async () => {
  const page = await pageAt('/');
  await rowOf(page, 'auth').click();
  await page.waitForURL('**/pod/shop/auth');
  await page.locator('.answer').getByText('is running').first().waitFor();
  await page.keyboard.press('1');
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/pod/shop/auth/container/*');
  await page.keyboard.press('/');
  await page.keyboard.type('is:retrying');
  await page.waitForURL(({ search }) => search === '?q=is%3Aretrying');
  await rowOf(page, 'thumbs').waitFor();
  expect(await page.locator('.row .name').allInnerTexts()).not.toContain('catalog');
  await page.close();
});

test('the page follows a failing pod live: its explanation, countdown, chart and runs', async () => {
  const page = await pageAt(API);
  const lit = (state: string) => page.locator(`.chart .st.lit[data-state$="${state}"]`).waitFor();
  await lit('backingOff');
  await page.evaluate('globalThis.isTheSame = true');
  const before = await backOffIn(page);
  await page.locator('.chart .st.lit[data-state*="running"]').first().waitFor();
  await page.locator('.answer').getByText('is running').first().waitFor();
  await lit('backingOff');
  await eventually('its next wait and its next run are told of', async () => {
    const after = await backOffIn(page);
    return after.answer !== before.answer && after.run > before.run;
  });
  await page.locator('.why .log').getByText(API_FAILS).waitFor();
  expect(await page.evaluate('globalThis.isTheSame')).toBe(true);
  expect(await page.content()).not.toContain(API_PASSWORD);
  await page.close();
});

test('the timeline leads back to a running state on a violet page, and Go live leads to the present', async () => {
  const page = await pageAt(API);
  await page.locator('.chart .st.lit[data-state$="backingOff"]').waitFor();
  const track = await page.locator('.track .scene').boundingBox();
  if (track === null) throw new Error('the page has no rail');
  await page.mouse.click(track.x + track.width - 20, track.y + 50);
  await page.locator('html.past').waitFor();
  // Steps back through the changes of the container to a moment at which it was running.
  for (let step = 0; step < 20 && !(await isRunningIn(page)); step += 1) {
    const shown = page.waitForResponse(/api.snapshot/);
    await page.keyboard.press('[');
    await (await shown).finished();
    await page.locator(`.chip.past`, { hasText: clockAt(page) }).waitFor();
  }
  expect(await isRunningIn(page)).toBe(true);
  const at = placeOf(page).searchParams.get('at') ?? '';
  expect(await page.locator('.chip.past').textContent()).toBe(`as it was at ${clockAt(page)}`);
  expect(await rowOf(page, 'api').textContent()).toContain('running');
  expect(await page.evaluate("getComputedStyle(document.querySelector('.rail')).backgroundColor")).toBe(VIOLET);
  await page.getByRole('button', { name: 'Go live' }).click();
  await page.locator('html:not(.past)').waitFor();
  expect(placeOf(page).search).toBe('');
  await page.close();
  // A link to that moment shows the same state when it is opened later.
  const linked = await pageAt(`${API}?at=${at}`);
  await linked.locator('.chip.past', { hasText: clockAt(linked) }).waitFor();
  await linked.locator('.chart .st.lit[data-state*="running"]').first().waitFor();
  expect(placeOf(linked).pathname).toBe(API);
  await linked.close();
});

test('the page of a pod shows its conditions, and its manifest with the redacted values marked', async () => {
  const page = await pageAt('/pod/shop/checkout-api?view=pod');
  await page.locator('.podpage .conds', { hasText: 'ContainersNotReady' }).waitFor();
  const manifest = page.locator('.podpage .manifest');
  await manifest.getByText('- name: DB_PASSWORD').waitFor();
  expect(await manifest.textContent()).toContain('held back');
  expect(await page.content()).not.toContain(API_PASSWORD);
  await page.close();
});

if (pictures !== undefined)
  test('the screenshots of the page can be taken', async () => {
    const page = await pageAt(API);
    await page.locator('.meta', { hasText: '4 restarts' }).waitFor({ timeout: 400_000 });
    await page.locator('.chart .st.lit[data-state$="backingOff"]').waitFor();
    // Part of the back-off has passed.
    const left = () => page.locator('.count strong').textContent();
    await eventually('it is in the midst of its wait', async () => /^[3-5]\ds$/.test((await left()) ?? ''));
    await picture(page, 'page-dark');
    await page.keyboard.press('t');
    await page.locator('html.light').waitFor();
    await picture(page, 'page-light');
    await page.close();
    const past = await pageAt(`${API}?at=${new Date(Date.now() - 50_000).toISOString()}`);
    await past.locator('.chip.past', { hasText: clockAt(past) }).waitFor();
    await past.locator('.answer', { hasText: 'exit code 3' }).waitFor();
    await picture(past, 'page-past');
    await past.close();
  }, 600_000);

test('no page had an error, violated its security policy or sent a request to another host', () => {
  expect(faults).toEqual([]);
});

const isRunningIn = (page: Page) =>
  page
    .locator('.chart .st.lit[data-state*="running"]')
    .count()
    .then((count) => count > 0);

/**
 * Returns the container's back-off as the page shows it. All values are read at one moment, because the back-off may
 * end at any time.
 */
const backOffIn = (page: Page) =>
  eventually('the page tells of its back-off', async () => {
    const texts = ['.answer', '.count strong', '.why .runs tbody tr td'];
    const [answer = '', count = '', run = ''] = await page.evaluate<string[]>(
      `${JSON.stringify(texts)}.map((at) => document.querySelector(at)?.textContent ?? '')`,
    );
    const isWait = /^Container api keeps failing: exit code 3.*restarts at \d\d:\d\d:\d\d/.test(answer);
    if (!isWait || !/^\d+s$/.test(count) || run === '') throw new Error(`it tells: ${answer} (${count}, run ${run})`);
    return { answer, run: Number(run) };
  });

/** Takes a screenshot once all parts of the page have loaded. */
async function picture(page: Page, name: string): Promise<void> {
  for (const part of ['.why .runs', '.chart .st.lit', '.lanes .stay']) await page.locator(part).first().waitFor();
  await page.mouse.move(0, 0);
  await writeFile(join(pictures ?? '', `${name}.png`), await page.screenshot({ animations: 'disabled' }));
}
