/** The expanded part of a row: intermediate states, payload of the input, and outgoing calls. */
import type { Asking } from '../model/asking.ts';
import type { Row } from '../model/storyRows.ts';
import { nameOf } from '../model/storyWho.ts';
import { fineClockText } from '../model/storyWords.ts';
import { Payload } from './payload.tsx';

interface DetailProps {
  readonly row: Row;
  readonly onSelect: (path: string) => void;
  readonly asking: Asking;
}

export function LineDetail({ row, onSelect, asking }: DetailProps) {
  const { step, move, passed, note } = row;
  return (
    <dl class="line-detail">
      <dt>At</dt>
      <dd>{fineClockText(row.at)} UTC</dd>
      <dt>Whom</dt>
      <dd>
        <button type="button" class="link" onClick={() => onSelect(row.actor)}>
          {row.actor === '' ? 'nodeAgent' : nameOf(row.actor)}
        </button>
      </dd>
      {move && <Way from={move.from} passed={passed} to={move.state} />}
      {note !== undefined && <Told note={note} />}
      {step && row.kind === 'entered' && step.asks.length > 0 && (
        <>
          <dt>Asked</dt>
          <dd>{step.asks.map(({ port, about }) => `${port} ${about}`.trim()).join(', ')}</dd>
        </>
      )}
      {row.kind === 'entered' && step?.entered && <Payload of={step.entered} asking={asking} />}
    </dl>
  );
}

const Told = ({ note }: { readonly note: string }) => (
  <>
    <dt>Told</dt>
    <dd>{note}</dd>
  </>
);

function Way({
  from,
  passed,
  to,
}: {
  readonly from: string | undefined;
  readonly passed: readonly string[];
  readonly to: string;
}) {
  const way = [from, ...passed, to].filter((state) => state !== undefined);
  return (
    <>
      <dt>Way</dt>
      <dd class="mono">{way.join(' → ')}</dd>
    </>
  );
}
