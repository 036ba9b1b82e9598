/** Addresses that are nothing but a path, or nothing at all. */
const NO_SERVER = /^(?:memory|sqlite|file):/;
/** What members are called that hold a secret: `password`, `sslpassword`, `client_secret` … */
const SECRET = /pass|pwd|secret|token/i;
const HIDDEN = '***';

/**
 * An address as it may be shown, and so end in a log: without the password before its host, and without those behind it
 * (`?password=`), which Postgres takes as well. Where nobody can tell what belongs to a password, more than that is hidden.
 */
export function withoutPassword(url: string): string {
  if (NO_SERVER.test(url)) return url;
  const address = URL.canParse(url) ? new URL(url) : null;
  // Such a sign behind the host may well be the end of a password that should have been escaped.
  if (address === null || `${address.pathname}${address.search}${address.hash}`.includes('@')) {
    return withoutAllBefore(url);
  }
  const search = address.search.split('&').map(withoutSecret).join('&');
  if (address.password === '' && search === address.search) return url;
  if (address.password !== '') address.password = HIDDEN;
  if (search !== address.search) Object.assign(address, { search, hash: '' });
  return address.href;
}

/** Whatever could be a password stands before the last `@`, unless one has a name. */
function withoutAllBefore(url: string): string {
  const [scheme = ''] = /^[a-z][a-z\d+.-]*:(?:\/\/)?/i.exec(url) ?? [];
  if (secretIn(url) !== null) return `${scheme}${HIDDEN}`;
  const at = url.lastIndexOf('@');
  return at === -1 ? url : `${scheme}${HIDDEN}${url.slice(at)}`;
}

function withoutSecret(member: string): string {
  const begin = secretIn(member);
  return begin === null ? member : `${member.slice(0, begin)}${HIDDEN}`;
}

/** Where the first value begins whose name says that it is a secret; null: there is none. */
function secretIn(text: string): number | null {
  for (const { 0: member, 1: name = '', index } of text.matchAll(/([^?&\s=]+)=/g)) {
    // `p%61ssword` is a password too.
    if (SECRET.test([...new URLSearchParams(name).keys()].join(''))) return index + member.length;
  }
  return null;
}
