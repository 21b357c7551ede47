/** Tests the page in a browser: selection, filter, keyboard and narrow windows. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { API, checkoutObject, designSnapshot, NOW, podOnPage, snapshotWith, wellPod } from './support/nodeOnPage.ts';
import { type Looking, lookAt, NodeOnPage } from './support/pageOnServer.ts';

const AT_API = '/pod/shop/checkout-api/container/api';
const NARROW = { width: 390, height: 844 };

let node: NodeOnPage;
let looking: Looking;
const open: Page[] = [];

beforeAll(async () => {
  node = new NodeOnPage();
  looking = await lookAt(node);
});
afterAll(() => looking?.close());

type DropFirst<T extends readonly unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

/** Opens the page at a URL. An exception in the page fails the test. */
async function pageAt(place: string, ...options: DropFirst<Parameters<Looking['open']>>): Promise<Page> {
  await Promise.all(open.splice(0).map((page) => page.close()));
  const page = await looking.open(place, ...options);
  open.push(page);
  return page;
}

const answer = (page: Page) => page.locator('.answer').textContent();
const path = (page: Page) => {
  const { pathname, search } = new URL(page.url());
  return pathname + search;
};
const rowOf = (page: Page, name: string) => page.locator('.row', { has: page.locator(`.name:text-is("${name}")`) });

describe('the selection', () => {
  test('without a path is the most severe container, a click selects a different actor, and Back returns', async () => {
    const page = await pageAt('/');
    await page.getByText('Asked of pod/uid-thumbs/container/main').waitFor();
    expect(await page.locator('.crumb').textContent()).toMatch(/^media\/thumbs-node-1\/main/);
    await rowOf(page, 'checkout-api').click();
    await page.waitForURL('**/pod/shop/checkout-api');
    await page
      .locator('.row', { has: page.locator('.name:text-is("checkout-api")') })
      .locator('.fold')
      .click();
    await rowOf(page, 'api').click();
    await page.locator('.answer .bad', { hasText: 'exit code 3' }).waitFor();
    expect(path(page)).toBe(AT_API);
    expect(await page.locator('.count strong').textContent()).toBe('48s');
    await page.goBack();
    await page.waitForURL('**/pod/shop/checkout-api');
    await page.getByText('Asked of pod/uid-checkout-api').waitFor();
  });

  test('has a breadcrumb whose separators stand as near to the step after them as to the one before', async () => {
    const page = await pageAt(AT_API);
    await page.locator('.crumb b', { hasText: 'api' }).waitFor();
    const gaps = await page.evaluate<number[]>(`[...document.querySelectorAll('.crumb > .dim')].map((separator) => {
      const range = document.createRange();
      range.selectNodeContents(separator);
      const text = range.getBoundingClientRect();
      const [before, after] = [separator.previousElementSibling, separator.nextElementSibling];
      return after.getBoundingClientRect().left - text.right - (text.left - before.getBoundingClientRect().right);
    })`);
    expect(gaps).toHaveLength(2);
    expect(gaps.filter((difference) => Math.abs(difference) > 1)).toEqual([]);
  });

  test('shows the reason, the next transitions, the log with redacted values, and the manifest', async () => {
    const page = await pageAt(AT_API);
    const why = page.locator('.why');
    await why.getByText('started as run 7').waitFor();
    expect(await why.locator('.runs tbody tr').count()).toBe(4);
    expect(await why.locator('.log .hid').textContent()).toBe('held back');
    await why.getByRole('button', { name: 'Manifest' }).click();
    await why.getByText('registry.shop/proxy:1').waitFor();
    expect(await why.locator('.object .hid').textContent()).toBe('held back');
    expect(await page.content()).not.toContain('redacted-');
  });

  test('shows the log of a healthy container, follows it, and searches it', async () => {
    const lines = Array.from({ length: 200 }, (_, at) => `request ${at} GET /`);
    const before = node.logLines;
    node.logLines = lines;
    const page = await pageAt('/pod/shop/checkout-api/container/proxy');
    const why = page.locator('.why');
    await why.getByRole('button', { name: 'Log' }).click();
    await why.getByText('request 199 GET /').waitFor();
    const log = why.locator('.logtab .log');
    const isAtEnd = () =>
      log.evaluate(
        (box) => box.scrollHeight - box.scrollTop - box.clientHeight < 12 && box.scrollHeight > box.clientHeight,
      );
    expect(await isAtEnd()).toBe(true);
    node.logLines = [...lines, 'request 200 POST /'];
    await page.clock.setFixedTime(NOW + 5_000);
    await why.getByText('request 200 POST /').waitFor();
    expect(await isAtEnd()).toBe(true);
    await why.getByLabel('Search this log').fill('post');
    expect(await log.locator('div').allTextContents()).toEqual(['request 200 POST /']);
    expect(await log.locator('mark').allTextContents()).toEqual(['POST']);
    await why.getByText('1 of 201 lines').waitFor();
    node.logLines = before;
  });

  test('shows the facts of an actor of the node, but not those of a container', async () => {
    const page = await pageAt('/node/startLimiter');
    const facts = page.locator('.why .facts li');
    await facts.first().waitFor();
    expect(await facts.allTextContents()).toEqual(['4 of 4 held']);
    await page.goto(new URL(AT_API, page.url()).href);
    await page.locator('.why').getByText('started as run 7').waitFor();
    expect(await facts.count()).toBe(0);
  });

  test('shows what is left before the next eviction, and which pod would be evicted for which reason', async () => {
    const page = await pageAt('/node/eviction');
    const facts = page.locator('.why .facts li');
    await page.locator('.why h3', { hasText: 'Next evictions' }).waitFor();
    expect(await facts.allTextContents()).toEqual([
      'memory.available: 400Mi of 1000Mi left, evicts below 100Mi; at the present rate in 6m',
      'memory.available: the first pod to be evicted would be shop/cart, because it has priority 0',
    ]);
  });

  test('reports a failure to load its details in the panel, with a retry', async () => {
    node.trouble = 'the agent is away';
    const page = await pageAt(AT_API);
    await page.locator('.why').getByText('the agent is away').waitFor();
    expect(await answer(page)).toContain('is waiting for the end of its back-off');
    const again = page.getByRole('button', { name: 'Try again' });
    node.trouble = 'the agent is still away';
    await again.click();
    await page.locator('.why').getByText('the agent is still away').waitFor();
    node.trouble = undefined;
    // An automatic retry may have removed the button.
    await again.click({ timeout: 5_000 }).catch(() => {});
    await page.locator('.why').getByText('started as run 7').waitFor();
  });

  test('of a deleted actor stays with its breadcrumb and a link to its last time', async () => {
    const page = await pageAt('/pod/shop/catalog/container/main');
    await page.getByText('Asked of pod/uid-catalog/container/main').waitFor();
    node.change({ podsGone: ['uid-catalog'], actorsGone: ['pod/uid-catalog', 'pod/uid-catalog/container/main'] });
    const last = page.getByRole('button', { name: /^Its last moment/ });
    await last.waitFor();
    expect(await page.locator('.crumb').textContent()).toMatch(/^shop\/catalog-node-1\/main/);
    await last.click();
    await page.locator('html.past').waitFor();
    expect(path(page)).toMatch(/^\/pod\/shop\/catalog\/container\/main\?at=/);
  });

  test('by a link to an unknown actor suggests the nearest one', async () => {
    const page = await pageAt('/pod/shop/checkout-ap/container/apii');
    await page.locator('.answer', { hasText: 'There is no such actor now' }).waitFor();
    await page.getByRole('button', { name: 'pod / shop / checkout-api / container / api' }).click();
    await page.locator('.answer .bad', { hasText: 'exit code 3' }).waitFor();
    expect(path(page)).toBe(AT_API);
  });

  test('shows foreign texts without control and bidirectional characters', async () => {
    const name = 'a\u202eb\u001b[2Jc\u2066d';
    const page = await pageAt('/pod/shop/checkout-api?view=pod');
    await page.locator('.podpage .manifest').waitFor();
    node.change({ actors: podOnPage({ name: 'odd', tree: { name, waitingFor: name, tags: ['broken'] } }).actors });
    await page.locator('.row', { hasText: 'a\\u202eb^[[2Jc\\u2066d' }).waitFor();
    await page.goto(new URL(`/pod/${encodeURIComponent(name)}/none`, page.url()).href);
    await page.locator('.crumb', { hasText: 'a\\u202eb' }).waitFor();
    expect(await page.locator('.app').textContent()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
    node.change({ actorsGone: ['pod/uid-odd'] });
  });

  test('shows the manifest after each change of its pod', async () => {
    const page = await pageAt('/pod/shop/checkout-api?view=pod');
    await page.locator('.podpage .manifest').waitFor();
    const { object } = node;
    node.object = async () => ({ ...checkoutObject, manifest: { now: 'another one' } });
    const [pod] = designSnapshot.pods.filter(({ uid }) => uid === 'uid-checkout-api');
    if (pod) node.change({ pods: [{ ...pod, restarts: 9 }] });
    await page.locator('.podpage .manifest', { hasText: 'another one' }).waitFor();
    node.object = object;
  });

  test('opens its pod page, and Escape leads back', async () => {
    const page = await pageAt(AT_API);
    await page.keyboard.press('p');
    await page.locator('.podpage .conds', { hasText: 'ContainersNotReady' }).waitFor();
    expect(path(page)).toBe(`${AT_API}?view=pod`);
    // The manifest is beside the status, below both columns.
    const [whys, conds, manifest, status] = await Promise.all(
      ['.whys', '.conds', '.manifest', '.status'].map((each) => page.locator(`.podpage ${each}`).boundingBox()),
    );
    const bottom = Math.max((whys?.y ?? 0) + (whys?.height ?? 0), (conds?.y ?? 0) + (conds?.height ?? 0));
    expect(manifest?.y).toBeGreaterThanOrEqual(bottom);
    expect(status?.y).toBe(manifest?.y);
    expect(status?.x).toBeGreaterThan((manifest?.x ?? 0) + (manifest?.width ?? 0));
    await page.keyboard.press('Escape');
    await page.locator('.chart').waitFor();
  });
});

describe('the filter', () => {
  test('shows only matches, is part of the URL, and reports syntax errors', async () => {
    const page = await pageAt('/');
    await page.locator('.row').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('is:failed');
    await page.waitForURL(({ search }) => search === '?q=is%3Afailed');
    expect(await page.locator('.row .name').allInnerTexts()).toEqual(['import-nightly']);
    await page.keyboard.press('Backspace');
    await page.locator('#find-problem', { hasText: 'did you mean failed?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.waitForURL((url) => url.search === '');
    expect(await page.locator('.row').count()).toBeGreaterThan(15);
  });

  test('is set by the cells of the bar', async () => {
    const page = await pageAt('/');
    await page.getByRole('button', { name: /retrying/ }).click();
    expect(await page.locator('.row:not(.above) .name').allInnerTexts()).toEqual(['api']);
    await page.getByRole('button', { name: /retrying/ }).click();
    expect(await page.locator('.row').count()).toBeGreaterThan(15);
  });

  test('without matches shows the number of hidden actors', async () => {
    const page = await pageAt('/?q=nothing-like-it');
    await page.getByText(/No actor is like this\. \d+ are hidden/).waitFor();
  });
});

describe('by keys', () => {
  test('the tree can be navigated, collapsed and expanded, and announces its position', async () => {
    const page = await pageAt('/pod/shop/auth');
    const tree = page.getByRole('treegrid');
    await tree.locator('.row.sel').waitFor();
    const current = () => tree.getAttribute('aria-activedescendant');
    expect(await current()).toBe('row:pod/uid-auth');
    await page.keyboard.press('j');
    expect(await current()).not.toBe('row:pod/uid-auth');
    await page.keyboard.press('k');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    expect(await current()).toBe('row:pod/uid-auth/container/main');
    const row = page.locator('[id="row:pod/uid-auth/container/main"]');
    expect(await row.getAttribute('aria-level')).toBe('2');
    expect([await row.getAttribute('aria-posinset'), await row.getAttribute('aria-setsize')]).toEqual(['1', '1']);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/pod/shop/auth/container/main');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('h');
    await page.locator('[id="row:pod/uid-auth"][aria-expanded="false"]').waitFor();
  });

  test('the arrow keys move the cursor of the tree only while the tree has the focus', async () => {
    const page = await pageAt(AT_API);
    const tree = page.getByRole('treegrid');
    await tree.locator('.row.sel').waitFor();
    const current = () => tree.getAttribute('aria-activedescendant');
    const before = await current();
    const openRows = await tree.locator('[aria-expanded="true"]').count();
    for (const selector of ['.why', '.chart [data-state][tabindex="0"]']) {
      await page.locator(selector).first().focus();
      for (const key of ['ArrowDown', 'ArrowUp', 'ArrowUp', 'PageDown', 'Home', 'End', 'ArrowLeft', 'ArrowRight']) {
        await page.keyboard.press(key);
        expect([selector, key, await current()]).toEqual([selector, key, before]);
      }
    }
    expect(await tree.locator('[aria-expanded="true"]').count()).toBe(openRows);
    await tree.focus();
    await page.keyboard.press('ArrowUp');
    expect(await current()).not.toBe(before);
  });

  test('Space opens a state of the chart like Enter does, without freezing the view', async () => {
    const page = await pageAt(AT_API);
    const state = page.locator('.chart [data-state][tabindex="0"]');
    await state.focus();
    await page.keyboard.press(' ');
    await page.locator('.chart [data-state][aria-expanded="true"]').waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.chart [data-state][aria-expanded="true"]').waitFor({ state: 'detached' });
    expect(await page.locator('.notice').count()).toBe(0);
  });

  test('the shortcuts are listed, and the theme is toggled permanently', async () => {
    const page = await pageAt('/');
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Turn dark to light').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('t');
    await page.locator('html.light').waitFor();
    await page.reload();
    await page.locator('html.light').waitFor();
  });
});

test('every time, age and countdown is by the clock of the node, whatever the clock of the browser shows', async () => {
  const textAt = async (place: string, clockOffsetMs: number) => {
    const page = await pageAt(place, undefined, clockOffsetMs);
    await page.locator('.row.sel').waitFor();
    await page
      .getByText(/Asked of|no database at/)
      .first()
      .waitFor();
    await page.locator('.chart [data-state]').first().waitFor();
    // The parts of the page are loaded one after the other.
    let before: string | null = null;
    for (;;) {
      const text = await page.locator('body').textContent();
      if (text === before) return text;
      before = text;
      await page.waitForTimeout(500);
    }
  };
  // Each change that an earlier test has published advanced the clock of the node.
  const nodeTime = new Date(node.live.snapshot().at).toISOString().slice(11, 19);
  for (const place of [AT_API, '/pod/shop/checkout-api', '/']) {
    const text = await textAt(place, 0);
    expect(text).toContain(nodeTime);
    for (const offset of [-3_600_000, 86_400_000]) expect(await textAt(place, offset)).toBe(text);
  }
});

test('no row moves while the pointer is in the list', async () => {
  const page = await pageAt('/');
  const names = () => page.locator('.row .name').allInnerTexts();
  await page.locator('.rows').hover();
  const before = await names();
  const worse = podOnPage({ name: 'payments', tree: { state: 'broken', tags: ['broken'], since: NOW } });
  node.change({ actors: worse.actors.map((each) => ({ ...each, order: 60 })) });
  await rowOf(page, 'payments').locator('.c-broken').waitFor();
  expect(await names()).toEqual(before);
  await page.mouse.move(900, 400);
  await page.waitForFunction("document.querySelectorAll('.row .name')[1]?.textContent === 'payments'");
});

test('an expanded row of the story loads and shows its payload', async () => {
  const { story } = node;
  const line = {
    kind: 'entered',
    at: NOW - 2_000,
    actor: `${API}/0.container`,
    outcome: 'answer',
    source: 'startContainer',
  };
  node.story = async (uid, from, to) => ({ ...(await story(uid, from, to)), lines: [line] }) as never;
  const page = await pageAt(AT_API);
  await page.locator('ol.story button', { hasText: 'startContainer' }).last().click();
  const detail = page.locator('.line-detail');
  await detail.getByText('exitCode: 3').waitFor();
  await detail.getByText('2 more fields stay on the node').waitFor();
  node.story = story;
});

test('about 40 of 1,000 rows are in the document at any scroll position', async () => {
  const many = Array.from({ length: 500 }, (_, index) => wellPod(`pod-${String(index).padStart(3, '0')}`));
  const { actors, pods } = snapshotWith(many);
  node.change({ actors: actors.filter(({ path }) => path.startsWith('pod/')), pods });
  const page = await pageAt('/');
  await page.locator('.treehead', { hasText: /5\d\d pods, 1[01]\d\d actors/ }).waitFor();
  await page.locator('.rows').evaluate((rows) => rows.scrollTo(0, 6_000));
  await page.locator('.row .name', { hasText: 'pod-240' }).waitFor();
  const count = await page.locator('.row').count();
  expect(count).toBeGreaterThan(28);
  expect(count).toBeLessThan(45);
  node.change({
    podsGone: pods.map(({ uid }) => uid),
    actorsGone: many.flatMap((each) => each.actors.map(({ path }) => path)),
  });
});

test('drawings are visible in forced colors', async () => {
  const page = await pageAt(AT_API);
  await page.emulateMedia({ forcedColors: 'active' });
  const state = page.locator('.st.lit');
  await state.waitFor();
  const fillOf = (what: string) =>
    state
      .locator(what)
      .first()
      .evaluate((each) => Reflect.get(globalThis, 'getComputedStyle')(each).fill);
  expect(await fillOf('.frame')).not.toBe(await fillOf('.nm'));
});

describe('in a narrow window', () => {
  test('one panel is shown at a time, with large touch targets and no overflow', async () => {
    const page = await pageAt(AT_API, NARROW);
    await page.locator('.why').getByText('started as run 7').waitFor();
    for (const [tab, shown] of [
      ['Actors', '.tree'],
      ['Story', '.lines'],
      ['Chart', '.chart'],
      ['Why', '.why'],
    ] as const) {
      await page.getByRole('tab', { name: tab }).click();
      await page.locator(shown).waitFor({ state: 'visible' });
      expect(await page.locator('.tree:visible, .lines:visible, .chart:visible, .why:visible').count()).toBe(1);
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(NARROW.width);
    const heights = await page
      .locator('.tabs button, .tool')
      .evaluateAll((all) => all.map((each) => each.clientHeight));
    expect(Math.min(...heights.filter((height) => height > 0))).toBeGreaterThanOrEqual(40);
  });

  test('tapping an actor opens the Why panel', async () => {
    const page = await pageAt('/', NARROW);
    await page.getByRole('tab', { name: 'Actors' }).click();
    await rowOf(page, 'auth').click();
    await page.locator('.why').waitFor({ state: 'visible' });
    await page.waitForURL('**/pod/shop/auth');
  });

  test('at medium width the Why panel is a drawer', async () => {
    const page = await pageAt(AT_API, { width: 1024, height: 768 });
    await page.locator('.chart').waitFor();
    expect(await page.locator('.why').isVisible()).toBe(false);
    await page.keyboard.press('w');
    await page.locator('.why').waitFor({ state: 'visible' });
    await page.keyboard.press('Escape');
    await page.locator('.why').waitFor({ state: 'hidden' });
  });
});
