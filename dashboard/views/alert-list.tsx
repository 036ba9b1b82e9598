import type { Alert } from '../api/alerts.js';
import { useShared } from '../context.js';
import { Mark, Shape } from '../parts/mark.js';
import { Time } from '../parts/time.js';
import { alertWords } from './alert-words.js';

/** P1 first, then the newest. */
export function AlertList({ alerts }: { readonly alerts: readonly Alert[] }) {
  const sorted = alerts.toSorted(
    (a, b) => a.severity.localeCompare(b.severity) || b.since.localeCompare(a.since),
  );
  return (
    <ul class="alerts">
      {sorted.map((alert) => (
        <OneAlert key={alert.alert_id} alert={alert} />
      ))}
    </ul>
  );
}

function OneAlert({ alert }: { readonly alert: Alert }) {
  const { session } = useShared();
  const { name, figures, next } = alertWords(alert);
  const { severity, state, rule, message, since, raised_at: raisedAt, cleared_at: clearedAt, step } = alert;
  return (
    <li class={`alert ${severity === 'P1' ? 'bad' : 'warn'} is-${state}`} data-rule={rule} data-state={state}>
      <p class="line">
        <span class="severity">
          <Shape of="alarm" /> {severity}
        </span>
        <strong>{name}</strong>
        {figures !== '' && <span class="figures">{figures}</span>}
        {state !== 'raised' && <Mark word={state} />}
      </p>
      <p>{message}</p>
      <p class="dim facts">
        <span>
          rule <code>{rule}</code>
        </span>
        <span>
          tenant <code>{session.tenant_id}</code>
        </span>
        {step !== null && (
          <span>
            step <code>{step}</code>
          </span>
        )}
        <span>
          holds since <Time at={since} />
        </span>
        {raisedAt !== null && (
          <span>
            raised <Time at={raisedAt} />
          </span>
        )}
        {clearedAt !== null && (
          <span>
            cleared <Time at={clearedAt} />
          </span>
        )}
      </p>
      {next.length > 0 && (
        <p class="next">
          Look at{' '}
          {next.map(([label, href]) => (
            <a key={href} href={href}>
              {label}
            </a>
          ))}
        </p>
      )}
    </li>
  );
}
