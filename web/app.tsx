/** The layout of the page. */
import { subjectOf } from './model/headline.ts';
import { Bar } from './panels/bar.tsx';
import { Chart } from './panels/chart.tsx';
import { Headline } from './panels/headline.tsx';
import { KeysOverlay } from './panels/keysOverlay.tsx';
import { Lanes } from './panels/lanes.tsx';
import { Lines } from './panels/lines.tsx';
import { Notices } from './panels/notices.tsx';
import type { Panel } from './panels/panel.ts';
import { PodPage } from './panels/podPage.tsx';
import { Rail } from './panels/rail.tsx';
import { Tabs } from './panels/tabs.tsx';
import { Tree } from './panels/tree.tsx';
import { Why } from './panels/why.tsx';
import { useIsPainted } from './parts/usePainted.tsx';

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
