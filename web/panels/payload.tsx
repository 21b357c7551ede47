/** The payload of an input, which is loaded when its row is expanded. */
import { useEffect, useState } from 'preact/hooks';
import type { ShownPayload } from '../../inspect/protocol.ts';
import { objectLines } from '../model/objectLines.ts';
import type { ServerClient } from '../model/serverClient.ts';
import type { Step } from '../model/storySteps.ts';
import { Parts } from './objectText.tsx';

interface PayloadProps {
  readonly of: NonNullable<Step['entered']>;
  readonly client: Pick<ServerClient, 'entry'>;
}

type Asked = { readonly payload: ShownPayload } | { readonly trouble: string };

/** The entries of a definition list. */
export function Payload({ of: { actor, source, at }, client }: PayloadProps) {
  const [asked, setAsked] = useState<Asked>();
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isWanted = true;
    const take = (answer: Asked) => isWanted && setAsked(answer);
    client.entry(actor, source, at).then(
      (payload) => take({ payload }),
      (error: unknown) => take({ trouble: error instanceof Error ? error.message : String(error) }),
    );
    return () => {
      isWanted = false;
    };
  }, [client, actor, source, at, tries]);
  return (
    <>
      <dt>Payload</dt>
      <dd>
        {asked === undefined && <span class="dim">…</span>}
        {asked && 'payload' in asked && <Shown {...asked.payload} />}
        {asked && 'trouble' in asked && (
          <>
            {asked.trouble}{' '}
            <button type="button" class="link" onClick={() => setTries(tries + 1)}>
              Try again
            </button>
          </>
        )}
      </dd>
    </>
  );
}

function Shown({ value, heldBack }: ShownPayload) {
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
              <Parts parts={parts} />
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
