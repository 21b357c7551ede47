/** The overlay that lists all keyboard shortcuts. */
import { useLayoutEffect, useRef } from 'preact/hooks';
import { keyGroups, keyLabel } from '../model/navigation/keys.ts';
import { Glyph } from '../parts/glyph.tsx';
import './keysOverlay.css';
import type { Panel } from './panel.ts';

/** The overlay is a modal dialog of the browser, which traps the focus and closes on Escape. */
export function KeysOverlay({ page, reading }: Panel) {
  const dialog = useRef<HTMLDialogElement>(null);
  const isShown = reading.areKeysShown.value;
  useLayoutEffect(() => {
    if (isShown) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isShown]);
  const close = () => {
    reading.areKeysShown.value = false;
  };
  return (
    <dialog
      ref={dialog}
      class="keys"
      aria-label="Keys"
      onClose={close}
      onClick={(event) => event.target === event.currentTarget && close()}
    >
      <div class="sheet">
        <h2>
          Keys
          <button type="button" class="tool" aria-label="Close" onClick={close}>
            <Glyph of="close" />
          </button>
        </h2>
        {keyGroups(page.keys.value).map(({ group, actions }) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {actions.map(({ keys, description }) => (
                <div key={description}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{keyLabel(key)}</kbd>
                    ))}
                  </dt>
                  <dd>{description}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
