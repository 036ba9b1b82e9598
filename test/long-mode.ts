/** `PAWL_LONG=1`: what takes minutes more is run too. Without it a suite runs on one store where that says most of it. */
export const LONG = process.env['PAWL_LONG'] === '1';
