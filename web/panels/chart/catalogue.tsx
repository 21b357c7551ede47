/** The catalog of charts, with the list of machines on the left and the chosen chart beside it. */
import type { Signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import type { Drawing } from '../../../inspect/protocol.ts';
import { buildCatalogue, type CatalogueEntry, findDrawing } from '../../model/chart/catalogue.ts';
import { createChart, resetChart } from '../../model/chart/chart.ts';
import { drawingKey } from '../../model/chart/drawings.ts';
import { chartTitle } from '../../model/chart/text.ts';
import { ChartAbout } from './chartAbout.tsx';
import { ChartCanvas } from './chartCanvas.tsx';
import { ZoomTools } from './chartTools.tsx';
import './chart.css';
import './catalogue.css';

interface CatalogueProps {
  readonly drawings: readonly Drawing[];
  /** Key of the chosen drawing, from the URL. */
  readonly selectedKey: Signal<string>;
}

export function Catalogue({ drawings, selectedKey }: CatalogueProps) {
  const catalogue = useMemo(() => buildCatalogue(drawings), [drawings]);
  const drawing = findDrawing(catalogue, selectedKey.value);
  const chart = useMemo(createChart, []);
  const key = drawing && drawingKey(drawing.machine, drawing.region);
  useEffect(() => resetChart(chart), [chart, key]);
  if (drawing === undefined) return <p class="said">This page was built without drawings.</p>;
  const describedState = drawing.states.find(({ state }) => state === chart.describedState.value);
  const close = () => {
    chart.describedState.value = undefined;
  };
  return (
    <main class="catalogue" onKeyDown={({ key: pressed }) => pressed === 'Escape' && close()}>
      <Machines catalogue={catalogue} selectedKey={key} />
      <section class="chart" aria-label="Chart">
        <div class="ph">
          <h2>{chartTitle(drawing)}</h2>
          <span class="r">
            <ZoomTools chart={chart} drawing={drawing} />
          </span>
        </div>
        <div class="canvas">
          <ChartCanvas chart={chart} drawing={drawing} label={chartTitle(drawing)} />
          <p class="foot">A state says what it means: click it, or walk with Tab, the arrow keys and Enter.</p>
          {describedState && <ChartAbout drawing={drawing} state={describedState} active={undefined} onClose={close} />}
        </div>
      </section>
    </main>
  );
}

interface MachinesProps {
  readonly catalogue: readonly CatalogueEntry[];
  readonly selectedKey: string | undefined;
}

const Machines = ({ catalogue, selectedKey }: MachinesProps) => (
  <nav class="machines" aria-label="Machines">
    <h1>
      <b>statelet</b> <span class="dim">charts</span>
    </h1>
    {catalogue.map(({ machine, summary, drawings }) => (
      <section key={machine}>
        <h2>{machine}</h2>
        <p>{summary}</p>
        <ul>
          {drawings.map(({ key, title }) => (
            <li key={key}>
              <a href={`#${key}`} aria-current={key === selectedKey ? 'page' : undefined}>
                {title}
              </a>
            </li>
          ))}
        </ul>
      </section>
    ))}
  </nav>
);
