/** The buttons and keys of the chart: region or whole, smaller, larger, all of it. */
import type { Drawing } from '../../inspect/protocol.ts';
import { go } from '../model/actions.ts';
import { type Chart, cameraOf, showAll, zoom } from '../model/chart/chart.ts';
import type { KeyAction } from '../model/keys.ts';
import type { Page } from '../model/page.ts';
import { Glyph } from '../parts/glyph.tsx';

const STEP = 1.25;

/** Region or whole; a change of the view is no place to come back to. */
const show = (page: Page, view: 'region' | 'whole'): void => go(page, { view }, 'replace');

/** Larger or smaller around the middle of what is seen. */
function zoomBy(chart: Chart, drawing: Drawing, by: number): void {
  zoom(
    chart,
    cameraOf(
      chart,
      drawing,
      drawing.states.find(({ state }) => state === chart.lit.peek()),
    ),
    by,
  );
}

/** What the chart's keys do; without a drawing they do nothing. */
export function keysOf(page: Page, chart: Chart, drawing: Drawing | undefined): KeyAction[] {
  if (drawing === undefined) return [];
  return [
    {
      keys: ['v'],
      group: 'Chart',
      does: 'Region or whole',
      run: () => show(page, page.place.peek().view === 'whole' ? 'region' : 'whole'),
    },
    { keys: ['f'], group: 'Chart', does: 'Show all of it', run: () => showAll(chart, drawing) },
    { keys: ['+', '='], group: 'Chart', does: 'Larger', run: () => zoomBy(chart, drawing, STEP) },
    { keys: ['-'], group: 'Chart', does: 'Smaller', run: () => zoomBy(chart, drawing, 1 / STEP) },
    {
      keys: ['Escape'],
      group: 'Chart',
      does: 'Close the description',
      isMeant: () => chart.described.peek() !== undefined,
      run: () => {
        chart.described.value = undefined;
      },
    },
  ];
}

interface ToolsProps {
  readonly page: Page;
  readonly chart: Chart;
  readonly drawing: Drawing;
  readonly hasRegions: boolean;
}

/** The buttons in the panel's head. */
export function ChartTools({ page, chart, drawing, hasRegions }: ToolsProps) {
  const { view } = page.place.value;
  return (
    <span class="r">
      {hasRegions && (
        <span class="seg" role="group" aria-label="How much of the chart">
          <button type="button" aria-pressed={view === 'region'} onClick={() => show(page, 'region')}>
            Region
          </button>
          <button type="button" aria-pressed={view === 'whole'} onClick={() => show(page, 'whole')}>
            Whole
          </button>
        </span>
      )}
      <ZoomTools {...{ chart, drawing }} />
    </span>
  );
}

/** Smaller, larger, all of it. */
export function ZoomTools({ chart, drawing }: Pick<ToolsProps, 'chart' | 'drawing'>) {
  return (
    <>
      <button
        type="button"
        class="mini"
        aria-label="Smaller"
        title="Smaller"
        onClick={() => zoomBy(chart, drawing, 1 / STEP)}
      >
        <Glyph of="minus" />
      </button>
      <button
        type="button"
        class="mini"
        aria-label="Larger"
        title="Larger"
        onClick={() => zoomBy(chart, drawing, STEP)}
      >
        <Glyph of="plus" />
      </button>
      <button
        type="button"
        class="mini"
        aria-label="Show all of it"
        title="Show all of it"
        onClick={() => showAll(chart, drawing)}
      >
        <Glyph of="fit" />
      </button>
    </>
  );
}
