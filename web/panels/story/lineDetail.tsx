/** The expanded part of a row: intermediate states, payload of the input, and outgoing calls. */
import type { ServerClient } from '../../model/server/serverClient.ts';
import type { Row } from '../../model/story/rows/storyRows.ts';
import { nameOf } from '../../model/story/storyWho.ts';
import { formatFineClock } from '../../model/story/storyWords.ts';
import { Payload } from './payload.tsx';

interface DetailProps {
  readonly row: Row;
  readonly onSelect: (path: string) => void;
  readonly client: ServerClient;
}

export function LineDetail({ row, onSelect, client }: DetailProps) {
  const { step, move, passedStates, note } = row;
  return (
    <dl class="line-detail">
      <dt>At</dt>
      <dd>{formatFineClock(row.at)} UTC</dd>
      <dt>Whom</dt>
      <dd>
        <button type="button" class="link" onClick={() => onSelect(row.actor)}>
          {row.actor === '' ? 'nodeAgent' : nameOf(row.actor)}
        </button>
      </dd>
      {move && <PassedStates from={move.from} passed={passedStates} to={move.state} />}
      {note !== undefined && <DetailNote note={note} />}
      {step && row.kind === 'entered' && step.calls.length > 0 && (
        <>
          <dt>Asked</dt>
          <dd>{step.calls.map(({ port, about }) => `${port} ${about}`.trim()).join(', ')}</dd>
        </>
      )}
      {row.kind === 'entered' && step?.entered && <Payload input={step.entered} client={client} />}
    </dl>
  );
}

const DetailNote = ({ note }: { readonly note: string }) => (
  <>
    <dt>Told</dt>
    <dd>{note}</dd>
  </>
);

function PassedStates({
  from,
  passed,
  to,
}: {
  readonly from: string | undefined;
  readonly passed: readonly string[];
  readonly to: string;
}) {
  const states = [from, ...passed, to].filter((state) => state !== undefined);
  return (
    <>
      <dt>Way</dt>
      <dd class="mono">{states.join(' → ')}</dd>
    </>
  );
}
