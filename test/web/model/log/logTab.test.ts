import { expect, test } from '@jest/globals';
import { signal } from '@preact/signals';
import { createLogTab, followLog, matchingLines } from '../../../../web/model/log/logTab.ts';
import { goToTime, select } from '../../../../web/model/navigation/actions.ts';
import { followSelection } from '../../../../web/model/navigation/selection.ts';
import { API, NOW } from '../../support/nodeOnPage.ts';
import { pageModel, until } from '../../support/pageModel.ts';

const PROXY = 'pod/uid-checkout-api/container/proxy';

test('the log is reloaded every second while its tab is open, and at once for a different container', async () => {
  const requests: string[] = [];
  const rests: (() => void)[] = [];
  const tab = createLogTab();
  const isSeen = signal(false);
  const { page } = pageModel({
    url: '/pod/shop/checkout-api/container/proxy/probe/readiness',
    log: async (path) => {
      requests.push(path);
      return { run: 1, isRunning: true, lines: [`line ${requests.length}`] };
    },
  });
  followSelection(page, () => undefined);
  followLog(page, tab, { setTimeout: (after) => rests.push(after), isVisible: () => isSeen.value });
  const rest = async () => {
    for (const each of rests.splice(0)) each();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  expect(requests).toEqual([]);
  isSeen.value = true;
  await until(() => tab.log.value?.content?.lines[0] === 'line 1');
  await rest();
  expect(requests).toEqual([PROXY]);
  page.browserTime.value = NOW + 2_000;
  await until(() => tab.log.value?.content?.lines[0] === 'line 2');
  select(page, API);
  expect(requests).toEqual([PROXY, PROXY, API]);
  await rest();
  // Logs are not loaded in the past or for actors that are not containers.
  goToTime(page, NOW - 5_000);
  await until(() => page.past.value !== undefined);
  page.browserTime.value = NOW + 9_000;
  await rest();
  expect(requests).toHaveLength(3);
});

test('a failure is shown beside the lines that were loaded before', async () => {
  let trouble: string | undefined;
  const tab = createLogTab();
  const { page } = pageModel({
    url: '/pod/shop/checkout-api/container/api',
    log: async () => {
      if (trouble !== undefined) throw new Error(trouble);
      return { run: 1, isRunning: true, lines: ['a'] };
    },
  });
  followSelection(page, () => undefined);
  followLog(page, tab, { setTimeout: (after) => after(), isVisible: () => true });
  await until(() => tab.log.value?.content !== undefined);
  trouble = 'the disk is gone';
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  tab.retries.value += 1;
  await until(() => tab.log.value?.error === 'the disk is gone');
  expect(tab.log.value?.content?.lines).toEqual(['a']);
});

test('the search ignores case and marks the matches', () => {
  const lines = ['GET /a', 'POST /b', 'get /c, then Get /d', '\u0130stanbul get'];
  const marked = (search: string) =>
    matchingLines(lines, search).map(
      ({ index, lineParts }) =>
        `${index} ${lineParts.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')}`,
    );
  expect(marked('get')).toEqual(['0 [GET] /a', '2 [get] /c, then [Get] /d', '3 [\u0130stanbul get]']);
  expect(marked('GET')).toEqual(marked('get'));
  expect(marked('')).toHaveLength(4);
  expect(marked('nothing')).toEqual([]);
});
