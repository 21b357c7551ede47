/** The payload of an input, which is loaded when its row is expanded. */
import { useEffect, useState } from 'preact/hooks';
import type { ShownPayload } from '../../../inspect/protocol.ts';
import { objectLines } from '../../model/details/objectLines.ts';
import type { ServerClient } from '../../model/server/serverClient.ts';
import type { Step } from '../../model/story/rows/storySteps.ts';
import { TextParts } from '../details/objectText.tsx';

interface PayloadProps {
  readonly input: NonNullable<Step['entered']>;
  readonly client: Pick<ServerClient, 'entry'>;
}

type PayloadState = { readonly payload: ShownPayload } | { readonly trouble: string };

/** The payload as entries of a definition list. */
export function Payload({ input: { actor, source, at }, client }: PayloadProps) {
  const [state, setAsked] = useState<PayloadState>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    const updatePayload = (answer: PayloadState) => isWanted && setAsked(answer);
    client.entry(actor, source, at).then(
      (payload) => updatePayload({ payload }),
      (error: unknown) => updatePayload({ trouble: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [client, actor, source, at, tries]);
  return (
    <>
      <dt>Payload</dt>
      <dd>
        {state === undefined && <span class="dim">…</span>}
        {state && 'payload' in state && <PayloadValue {...state.payload} />}
        {state && 'trouble' in state && (
          <>
            {state.trouble}{' '}
            <button type="button" class="link" onClick={() => setTries(tries + 1)}>
              Try again
            </button>
          </>
        )}
      </dd>
    </>
  );
}

function PayloadValue({ value, heldBack }: ShownPayload) {
  return (
    <>
      {value === null && heldBack === 0 ? (
        <span class="dim">nothing</span>
      ) : (
        <pre>
          {objectLines(value).map(({ indent, key, value: parts }, at) => (
            <div key={at}>
              {indent}
              {key !== '' && `${key}: `}
              <TextParts parts={parts} />
            </div>
          ))}
        </pre>
      )}
      {heldBack > 0 && (
        <span class="dim">
          {heldBack} more {heldBack === 1 ? 'field stays' : 'fields stay'} on the node
        </span>
      )}
    </>
  );
}
