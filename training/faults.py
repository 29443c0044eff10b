"""Mistakes by which a sentence of the corpus shows that its writer is no model of correct spelling.

What people chat is full of them (안돼, 보고싶어, 할거야: in every tenth sentence of some collections), and a network that is
told to leave them as they are learns just that: of 저는영화를 보고싶어요 it mended both spaces, of 저는 영화를 보고싶어요 none.
So a sentence with one of these is left out, and the network reads the others. Only what is wrong for certain, or
nearly so, is listed; a few right sentences lost (안가: 안 가, or a safe house) do no harm.
"""

import re

from model.hangul import syllables_with_coda

_RIEUL = f"(?<=[{syllables_with_coda('ㄹ')}])"
_WORD_START, _WORD_END = "(?<![가-힣])", "(?![가-힣])"

_FAULTS = {
    "안 돼, 안 가 (한글 맞춤법 제2항)": rf"{_WORD_START}안(?:[돼되됐될된됨됩]|해[요서도]?{_WORD_END}|했|하[고면는]|한다"
    r"|할[까게래]|가[요고]|갔|갈래|간다|먹|왔|와[요서]|오[고면는니]|봤|봐|써[요서]|좋|맞[아았는]|나[와왔]|들[어려렸])",
    "못 가 (제2항)": rf"{_WORD_START}못(?:가|갔|갈|먹|왔|와|봤|봐|자[요고서]|잤|찾|알아|믿|참|잊|받)",
    "보고 싶다, 하고 있다 (제47항)": "고싶|고있",
    "할 수 있다 (제42항)": rf"(?<![실필홀별]){_RIEUL}수 ?[있없]|{_RIEUL} 수[있없]",
    "할 거야 (제42항)": rf"{_RIEUL}(?<!설)거(?:야|예요|에요|라[고는서]|다|니까|지)",
    "할 것 같다 (제42항)": "[것거]같(?!이)",
    "하는 것 (제42항)": "(?:는|한|할|될|된|갈|볼|먹을|있을|없을|던)것(?=[이은을도과만입])"
    f"|는게{_WORD_END}|는거(?=[야예에라다니고지면같요 ]|$)|는건(?=[지데가 ]|$)",
    "하기 때문 (제42항)": "[가-힣]때문",
    "밥 먹다, 할 일, 집에 가다 (제2항)": f"[밥술약]먹|{_WORD_START}할일|집에가",
    "뭐 하다 (제2항)": "뭐(?:하[고는니냐지세면]|했|할|먹|입|살까)",
    "이번 주 (제2항)": "(?:이번|다음|저번)[주달](?![가-힣]{2})|하루종일|더이상|아무[말일]|[그이저]럴때",
    "할 때 (제2항)": rf"{_RIEUL}(?<![물절])때(?=[마만는가도에까부면 .,?!]|$)",
    "두 번, 한 개 (제43항)": rf"{_WORD_START}(?:(?:두|세|네|여러|다섯|여섯|열)(?:번|개|명|시간)(?![가-힣]{{2}})|한[개명]{_WORD_END})",
    "몇 시 (제43항)": f"{_WORD_START}몇(?:시|개|명|번|살|년|달|월|가지|주|분|마리|권)",
    "한 적 있다 (제42항)": "(?:한|본|간|온|된|던|난|은|는)적[이은도]? ?[있없]",
    "할 줄 알다 (제42항)": rf"{_RIEUL}줄[은도을]? ?[알몰모]|[는한된]줄 ?[알몰모]",
    "온 지 (제42항)": "(?:온|간|된|만난|떠난|헤어진|끝난|사귄)지 ",
    "해야 하다 (제47항)": "[해가와봐써어아]야(?:할|하[고는지니]|되|돼|될|된|한다|합|해)",
    "하지 않다 (제47항)": f"지않|지못[하해할했합]|지말[고아라자]|지마(?:세요|라{_WORD_END})",
    "조사 (제41항)": f"(?<=[가-힣]) (?:까지|부터|처럼|에서|에게|으로|이에요|예요|조차){_WORD_END}|수 밖에",
    "할게 (제53항)": rf"{_RIEUL}(?<!들)께(?=[요.!?~ ]|$)",
    "돼, 됐다 (제35항)": "됬|됀|되[요서]|돼(?:고|면|는|니까)|뵈요|되여",
    "안, 않다 (표준국어대사전)": rf"않(?:돼|되|하|했|해)|{_WORD_START}않 ",
    "있습니다 (표준어 규정 제17항)": "[있없했겠았었였]읍니다|[있없]슴",
    "며칠, 웬만하다 (표준국어대사전)": "몇일|왠[만일]|웬지|오랫만|어떻해|역활|설겆|희안|어의없|할려[고면]|찌게|일일히|번번히|깨끗히|어짜피|도데체",
}
_ANY = re.compile("|".join(_FAULTS.values()))
_EACH = {right: re.compile(pattern) for right, pattern in _FAULTS.items()}


def find_fault(text: str) -> str | None:
    """What a sentence gets wrong, with the right spelling and its source; None where nothing is found."""
    if not _ANY.search(text):
        return None
    right, found = next(
        (right, match[0]) for right, pattern in _EACH.items() if (match := pattern.search(text))
    )
    return f"{found!r} is misspelt: {right}"
