/** The layout of the page. */

import { useEffect, useState } from 'preact/hooks';
import { subjectOf } from './model/details/headline.ts';
import { Chart } from './panels/chart/chart.tsx';
import { Headline } from './panels/details/headline.tsx';
import { PodPage } from './panels/details/podPage.tsx';
import { Why } from './panels/details/why.tsx';
import { KeysOverlay } from './panels/keysOverlay.tsx';
import { Bar } from './panels/navigation/bar.tsx';
import { Tabs } from './panels/navigation/tabs.tsx';
import { Tree } from './panels/navigation/tree.tsx';
import { Notices } from './panels/notices.tsx';
import type { Panel } from './panels/panel.ts';
import { Rail } from './panels/rail/rail.tsx';
import { Lanes } from './panels/story/lanes.tsx';
import { Lines } from './panels/story/lines.tsx';

export function App(panel: Panel) {
  const { page, reading } = panel;
  const isPainted = useIsPainted();
  const isPodPage = page.location.value.isPodPage && subjectOf(page)?.pod !== undefined;
  const classes = [
    'app',
    `on-${reading.narrowTab.value}`,
    reading.isDrawerOpen.value ? 'drawn' : '',
    isPodPage ? 'on-podpage' : '',
    page.connection.value.kind === 'lost' ? 'stale' : '',
  ];
  return (
    <>
      <main class={classes.filter((each) => each !== '').join(' ')}>
        <Bar {...panel} />
        <Tree {...panel} />
        <Headline {...panel} />
        <Tabs {...panel} />
        {isPainted && (isPodPage ? <PodPage {...panel} /> : <Panels {...panel} />)}
        {isPainted && <Rail {...panel.story} />}
      </main>
      <Notices {...panel} />
      <KeysOverlay {...panel} />
    </>
  );
}

const Panels = (panel: Panel) => (
  <>
    <Chart {...panel.story} />
    <Why {...panel} />
    <Lanes {...panel.story} />
    <Lines {...panel.story} />
  </>
);

/**
 * Returns whether the page has been painted. Less urgent panels wait for this, because rendering all panels at once
 * would double the time until the answer is visible.
 */
function useIsPainted(): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    let timer = 0;
    const frame = requestAnimationFrame(() => {
      timer = window.setTimeout(() => setPainted(true));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, []);
  return isPainted;
}
