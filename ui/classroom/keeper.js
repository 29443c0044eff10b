// Shows nothing. Keeps a seat, and the teacher's key, for a day: a session that comes after a reload finds
// them in its cookies.
export default function ({ data }) {
  const secure = window.location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `${data.name}=${data.value}; Path=/; Max-Age=86400; SameSite=Strict${secure}`;
}
