/** This release. A test holds it against package.json, which a program that runs from elsewhere does not find. */
export const VERSION = '0.1.0';
