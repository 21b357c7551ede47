/** The buttons and keyboard shortcuts for the zoom of the chart and for switching between region and whole chart. */
import type { Drawing } from '../../../inspect/protocol.ts';
import { type Chart, cameraOf, toggleWholeView, zoom } from '../../model/chart/chart.ts';
import { navigate } from '../../model/navigation/actions.ts';
import type { KeyAction } from '../../model/navigation/keys.ts';
import type { Page } from '../../model/page.ts';
import { Glyph } from '../../parts/glyph.tsx';

const STEP = 1.25;

/**
 * Switches between region and whole chart. Replaces the history entry, because users do not expect Back to undo the
 * switch.
 */
const setView = (page: Page, view: 'region' | 'whole'): void => navigate(page, { view }, 'replace');

/** Zooms around the center of the visible part. */
function zoomBy(chart: Chart, drawing: Drawing, factor: number): void {
  zoom(
    chart,
    cameraOf(
      chart,
      drawing,
      drawing.states.find(({ state }) => state === chart.activeBox.peek()),
    ),
    factor,
  );
}

/** Returns the keyboard shortcuts of the chart. Empty without a drawing. */
export function chartKeys(page: Page, chart: Chart, drawing: Drawing | undefined): KeyAction[] {
  if (drawing === undefined) return [];
  return [
    {
      keys: ['v'],
      group: 'Chart',
      description: 'Region or whole',
      run: () => setView(page, page.location.peek().view === 'whole' ? 'region' : 'whole'),
    },
    { keys: ['f'], group: 'Chart', description: 'Show all of it', run: () => toggleWholeView(chart, drawing) },
    { keys: ['+', '='], group: 'Chart', description: 'Larger', run: () => zoomBy(chart, drawing, STEP) },
    { keys: ['-'], group: 'Chart', description: 'Smaller', run: () => zoomBy(chart, drawing, 1 / STEP) },
    {
      keys: ['Escape'],
      group: 'Chart',
      description: 'Close the description',
      isActive: () => chart.describedState.peek() !== undefined,
      run: () => {
        chart.describedState.value = undefined;
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

/** The buttons in the header of the panel. */
export function ChartTools({ page, chart, drawing, hasRegions }: ToolsProps) {
  const { view } = page.location.value;
  return (
    <span class="r">
      {hasRegions && (
        <span class="seg" role="group" aria-label="How much of the chart">
          <button type="button" aria-pressed={view === 'region'} onClick={() => setView(page, 'region')}>
            Region
          </button>
          <button type="button" aria-pressed={view === 'whole'} onClick={() => setView(page, 'whole')}>
            Whole
          </button>
        </span>
      )}
      <ZoomTools chart={chart} drawing={drawing} />
    </span>
  );
}

/** The zoom buttons. */
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
        onClick={() => toggleWholeView(chart, drawing)}
      >
        <Glyph of="fit" />
      </button>
    </>
  );
}
